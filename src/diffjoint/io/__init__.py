"""Tables and worlds in files."""
