"""Files that are whole or absent, several of them together, and saved models."""
