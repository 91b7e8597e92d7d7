"""What the command line says, and in which words."""

import functools
import re
import sys
from collections.abc import Callable
from typing import Any, NoReturn, ParamSpec

from rich.console import Console

from diffjoint.errors import DiffJointError, InputError

P = ParamSpec("P")

RUN_FAILED = 1
WRONG_USE = 2
BARE = r"(?<![\w'\"`.=-])"
"""Not within a word or quotes: a column may be called like a parameter."""


def _kinds(said: re.Match[str]) -> str:
    """Kinds of columns, each by an option of its own."""
    pairs = re.findall(r"'([^']*)': '([^']*)'", said[1])
    options = " ".join(f"--kind '{name}={kind}'" for name, kind in pairs)
    return f"{options} and so on" if said[2] else options


BY_OPTIONS: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (BARE + r"column_kinds=\{((?:'[^']*': '[^']*'(?:, )?)+)(\.\.\.)?\}", _kinds),
    (BARE + r"reason_codes=\{'([^':]*)': \{'([^']*)': '(\w+)'\}\}", r"--code '\1: \2=\3'"),
    (BARE + r"reason_codes=\{'([^']*)': \{'([^']*)': '(\w+)'\}\}", r"--code '`\1`: \2=\3'"),
    (BARE + r"(mm_columns|detector|preset|unseen|mm_output|checkboxes)='(\w+)'", r"--\1 \2"),
    (BARE + r"(sampler)='(\w+)'", r"--set \1=\2"),
    (BARE + r"column_kinds\b", "--kind"),
    (BARE + r"reason_codes\b", "--code"),
    (BARE + r"(loss_rate|mm_columns|memory_limit|mm_output|mm_fill)\b", r"--\1"),
    (BARE + r"bounds(?=\[| names)", r"--bounds"),
    (BARE + r"checkboxes(?= must)", "--checkboxes"),
    (BARE + r"n_threads\b", "--threads"),
    (r"(?<=--)(\w+)_(\w+)", r"\1-\2"),
    (r"\bPass names from X\.columns\.", "Take names from its header."),
    (r"\b(of|in) X\b", r"\1 the table"),
    (r"\bX (must|has)\b", r"The table \1"),
)
"""What the library calls a thing, and what the command line does; read in this order."""

console = Console(stderr=True)


def explaining_errors(command: Callable[P, None]) -> Callable[P, None]:
    """A command whose errors are told in a sentence and an exit code."""

    @functools.wraps(command)
    def explained(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except InputError as error:
            fail(by_options(str(error)), WRONG_USE)
        except DiffJointError as error:
            fail(by_options(str(error)), RUN_FAILED)
        except KeyboardInterrupt as error:
            fail(str(error) or "Interrupted; no file was left half written.", RUN_FAILED)

    return explained


def say(text: str, quiet: bool) -> None:
    """Print a message beside the output, unless ``quiet``."""
    if not quiet:
        console.print(text, highlight=False, markup=False, soft_wrap=True)


def told_once() -> Callable[..., None]:
    """Shows warnings, each once in a run, however often the table is looked at."""
    told: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        text = by_options(str(message))
        if text not in told:
            told.add(text)
            console.print(f"Warning: {text}", markup=False, highlight=False, soft_wrap=True)

    return show


def by_options(text: str) -> str:
    """A message of the library, with options of the command line for parameters."""
    for pattern, option in BY_OPTIONS:
        text = re.sub(pattern, option, text)
    return text


def fail(text: str, code: int) -> NoReturn:
    """Print what went wrong, and exit."""
    console.print(f"Error: {text}", style="red", markup=False, highlight=False, soft_wrap=True)
    sys.exit(code)
