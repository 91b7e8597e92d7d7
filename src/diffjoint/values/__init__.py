"""Predict the values of lost cells by boosted trees or by another imputer."""
