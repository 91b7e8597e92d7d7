"""The command line: arguments and files; the work is done elsewhere."""

from diffjoint.cli.start import main

__all__ = ["main"]
