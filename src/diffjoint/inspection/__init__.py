"""A first look at a table, before anything is learnt."""
