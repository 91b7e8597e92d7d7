"""The commands, a file for each; what they need is imported when they run."""
