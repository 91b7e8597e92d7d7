"""Run the command line as a stranger would."""

import pytest

from diffjoint.cli import main


def run(*arguments):
    """Return the exit code of the command line."""
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    return end.value.code
