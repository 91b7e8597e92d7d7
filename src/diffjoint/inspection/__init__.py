"""First look at a table, before anything is fitted."""
