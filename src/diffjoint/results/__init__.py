"""Results of a fit: the completed table, explanations of calls, and the self-check."""
