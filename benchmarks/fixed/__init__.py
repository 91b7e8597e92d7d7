"""Calls whose results are fixed, bit for bit, by benchmarks.same_results."""
