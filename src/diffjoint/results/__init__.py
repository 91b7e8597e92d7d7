"""What was inferred: put into the table, explained, and checked against the table itself."""
