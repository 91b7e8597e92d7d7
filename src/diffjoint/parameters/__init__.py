"""What parameters may be."""
