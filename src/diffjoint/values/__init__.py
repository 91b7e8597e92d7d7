"""What lost cells held: boosted trees, or another imputer."""
