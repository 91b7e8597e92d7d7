"""The options of the commands, each with its help, in groups. Nothing is loaded for them."""
