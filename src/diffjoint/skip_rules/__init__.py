"""Find skip rules in a table: when a column has something to record at all."""
