"""What is learnt from a table, and what is left behind to go on from."""
