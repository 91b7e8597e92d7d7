"""What can go wrong, by name.

Every message says what was expected, what came, and what to do about it.
Each class also derives from the builtin that callers already catch.
"""


class DiffJointError(Exception):
    """Base of everything diffjoint raises on purpose."""


class InputError(DiffJointError, ValueError):
    """A table or a setting that cannot be worked with."""


class TrainingError(DiffJointError, RuntimeError):
    """Training could not go on."""


class FileError(DiffJointError, OSError):
    """A file that cannot be read or written as asked."""


class ModelFileError(FileError, ValueError):
    """A saved model or checkpoint that is cut off, altered, or from another version."""


class UntypicalWarning(UserWarning):
    """Something that works, but probably not as meant."""
