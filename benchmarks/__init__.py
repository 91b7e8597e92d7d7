"""Measurements: what the paper reports, and how long things take. Public API only."""
