"""What the command line says, and in which words."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NoReturn

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from diffjoint.cli.start import INTERRUPTED, RUN_FAILED, WRONG_USE, ignore_signals, plain
from diffjoint.errors import NO_VALUE, DiffJointError, InputError, message_of, show_options
from diffjoint.settings import settings_types

OPTIONS = {
    "mm_columns": "--mm-columns",
    "loss_rate": "--loss-rate",
    "rules": "--rule",
    "use_found_rules": "--found-rules",
    "reason_codes": "--code",
    "column_kinds": "--kind",
    "checkboxes": "--checkboxes",
    "decimal": "--decimal",
    "decisions": "--decisions",
    "mm_output": "--mm-output",
    "mm_label": "--mm-label",
    "mm_fill": "--mm-fill",
    "bounds": "--bounds",
    "unseen": "--unseen",
    "preset": "--preset",
    "detector": "--detector",
    "checkpoint": "--checkpoint",
    "device": "--device",
    "memory_limit": "--memory-limit",
    "n_threads": "--threads",
    "random_state": "--seed",
    "self_check": "--self-check",
    "draws": "--draws",
    "key": "--key-file",
    **{name: f"--set {name}" for name in settings_types()},
}
"""How the command line calls the parameters of the library that it has; others keep their name."""


class Screen(Console):
    r"""Shows text as it is: control characters, which could take over a terminal, as ``\x1b``."""

    def __init__(self, **how: Any) -> None:
        super().__init__(emoji=False, **how)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        """Render what is to be shown."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(plain(segment.text), segment.style)


console = Screen(stderr=True)
"""For errors, warnings and progress."""


class _Summaries(Screen):
    """Where summaries go; if nobody reads on, the work goes on all the same."""

    def on_broken_pipe(self) -> None:
        """Say nothing any more."""
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


_kept_clear: ContextVar[bool] = ContextVar("kept_clear", default=False)


def keep_clear(*outputs: str | None) -> None:
    """Say things beside standard output from now on, if one of the outputs goes there.

    Parameters
    ----------
    outputs : str or None
        Where tables are written; "-" is standard output.
    """
    _kept_clear.set("-" in outputs)


def summaries() -> Console:
    """Return where summaries go: standard output, unless a table does."""
    return console if _kept_clear.get() else _Summaries()


@contextmanager
def explaining_errors() -> Iterator[None]:
    """Tell errors in a sentence and an exit code."""
    try:
        yield
    except InputError as error:
        fail(by_options(error), WRONG_USE)
    except DiffJointError as error:
        fail(by_options(error), RUN_FAILED)
    except KeyboardInterrupt as error:
        ignore_signals()
        fail(by_options(error.args[0] if error.args else INTERRUPTED), RUN_FAILED)


def say(text: str, quiet: bool) -> None:
    """Print a message where summaries go, unless ``quiet``."""
    if not quiet:
        summaries().print(text, highlight=False, markup=False, soft_wrap=True)


def say_warning(text: str) -> None:
    """Print a message beside the output."""
    console.print(text, highlight=False, markup=False, soft_wrap=True)


def told_once() -> Callable[..., None]:
    """Return what shows warnings, each once in a run, however often the table is looked at."""
    told: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        text = by_options(message)
        if text not in told:
            told.add(text)
            console.print(f"Warning: {text}", markup=False, highlight=False, soft_wrap=True)

    return show


def by_options(said: object) -> str:
    """Return what an error, a warning or a text says, with options in place of parameters."""
    return show_options(message_of(said), as_option)


def as_option(name: str, value: Any = NO_VALUE) -> str:
    """Write a parameter as it is given on the command line.

    Examples
    --------
    >>> as_option("loss_rate"), as_option("mm_columns", "auto"), as_option("sampler", "inpaint")
    ('--loss-rate', '--mm-columns auto', '--set sampler=inpaint')
    >>> as_option("column_kinds", {"a b": "integer", "n": "categorical"})
    "--kind 'a b=integer' --kind 'n=categorical'"
    >>> as_option("reason_codes", {"income": {"refused": "lost"}, -9: "lost"})
    "--code 'income: refused=lost' --code '-9=lost'"
    """
    shown = OPTIONS.get(name)
    if shown is None:
        return name if value is NO_VALUE else f"{name}={value!r}"
    if value is NO_VALUE:
        return shown
    if isinstance(value, Mapping):
        return " ".join(f"{shown} {_quoted(pair)}" for pair in _pairs(name, value))
    text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return f"{shown}{'=' if shown.startswith('--set') else ' '}{text or _quoted(text)}"


def _pairs(name: str, value: Mapping[Any, Any]) -> Iterator[str]:
    """Return what a parameter says by column, in the form that its option takes."""
    for label, said in value.items():
        if isinstance(said, Mapping):
            yield from (f"{_before_colon(label)}: {code}={why}" for code, why in said.items())
        elif name == "rules":
            yield f"{_before_colon(label)}: {said}"
        elif name == "bounds":
            yield f"{label}={':'.join('' if side is None else str(side) for side in said)}"
        else:
            yield f"{label}={said}"


def _before_colon(label: Any) -> str:
    return f"`{label}`" if ":" in str(label) else str(label)


def _quoted(text: str) -> str:
    """Text in single quotes, as a shell reads it."""
    return "'" + text.replace("'", "'\"'\"'") + "'"


def fail(text: str, code: int) -> NoReturn:
    """Print what went wrong, and exit."""
    console.print(f"Error: {text}", style="red", markup=False, highlight=False, soft_wrap=True)
    sys.exit(code)
