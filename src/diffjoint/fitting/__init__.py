"""Fit: a table checked and coded, the ways of learning it, and the model that is left."""
