"""Read what the user knows about missing cells (labels, reason codes, rules) and resolve it."""
