"""Report the progress of long work."""

from collections.abc import Callable
from html import escape
from importlib import import_module
from time import monotonic
from types import TracebackType
from typing import Any, Protocol, Self

import rich.progress as bars
from rich.console import Console


class Progress(Protocol):
    """Receives the progress of long work. One unit is one row through the network."""

    def begin(self, total: float) -> None:
        """Start work of ``total`` units."""

    def phase(self, name: str) -> None:
        """Start the phase of that name."""

    def advance(self, units: float, loss: float | None = None) -> None:
        """Note that ``units`` more are done."""


class NoProgress:
    """Shows no progress."""

    def begin(self, total: float) -> None:
        """Do nothing."""

    def phase(self, name: str) -> None:
        """Do nothing."""

    def advance(self, units: float, loss: float | None = None) -> None:
        """Do nothing."""


def progress_bar() -> "ProgressBar | NotebookBar":
    """Return the progress bar for where this runs: a notebook or a terminal."""
    console = Console(stderr=True)
    return NotebookBar() if console.is_jupyter else ProgressBar(console)


class NotebookBar:
    """Progress bar in a notebook, without widgets; it disappears when the work is done."""

    BETWEEN = 0.25
    """Seconds between two updates at least."""

    def __init__(self) -> None:
        self._screen = import_module("IPython.display")
        self._handle: Any = None
        self._phase, self._loss = "starting", ""
        self._done, self._total, self._start, self._shown = 0.0, 1.0, monotonic(), -1.0

    def __enter__(self) -> Self:
        self._handle = self._screen.display(self._screen.HTML(""), display_id=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._handle.update(self._screen.HTML(""))

    def begin(self, total: float) -> None:
        """Start the bar again."""
        self._done, self._total, self._start, self._shown = 0.0, total, monotonic(), -1.0
        self._phase, self._loss = "starting", ""

    def phase(self, name: str) -> None:
        """Show the phase."""
        self._phase = name
        self._show()

    def advance(self, units: float, loss: float | None = None) -> None:
        """Advance the bar."""
        self._done += units
        self._loss = self._loss if loss is None else f", loss {loss:.3f}"
        if monotonic() - self._shown >= self.BETWEEN:
            self._show()

    def _show(self) -> None:
        self._shown = monotonic()
        share = min(1.0, self._done / self._total) if self._total else 1.0
        gone = self._shown - self._start
        left = f", {gone / share * (1 - share):.0f} s left" if share > 0 else ""
        words = escape(f"{self._phase}{self._loss}: {share:.0%}, {gone:.0f} s{left}")
        bar = f'<progress max="1" value="{share:.4f}" style="width: 12em"></progress>'
        self._handle.update(self._screen.HTML(f"<div>{bar} {words}</div>"))


class ScaledProgress:
    """Passes progress on, multiplied by a factor."""

    def __init__(self, listener: Progress, factor: float) -> None:
        self._listener, self._factor = listener, factor

    def begin(self, total: float) -> None:
        """Start work of ``total`` units."""
        self._listener.begin(total * self._factor)

    def phase(self, name: str) -> None:
        """Start the phase of that name."""
        self._listener.phase(name)

    def advance(self, units: float, loss: float | None = None) -> None:
        """Note that ``units`` more are done."""
        self._listener.advance(units * self._factor, loss)


class ProgressBar:
    """Progress bar in a terminal: phase, loss, elapsed and remaining time."""

    def __init__(
        self, console: Console | None = None, clock: Callable[[], float] | None = None
    ) -> None:
        self._bar = bars.Progress(
            bars.TextColumn("{task.description}"),
            bars.BarColumn(),
            bars.TaskProgressColumn(),
            bars.TextColumn("{task.fields[loss]}"),
            bars.TimeElapsedColumn(),
            bars.TextColumn("left:"),
            bars.TimeRemainingColumn(),
            console=console or Console(stderr=True),
            transient=True,
            speed_estimate_period=120,
            get_time=clock,
        )
        self._task: bars.TaskID | None = None

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bar.stop()

    @property
    def seconds_left(self) -> float | None:
        """Estimated remaining seconds; None while there is no estimate."""
        return None if self._task is None else self._bar.tasks[-1].time_remaining

    def begin(self, total: float) -> None:
        """Start the bar again."""
        if self._task is not None:
            self._bar.remove_task(self._task)
        self._task = self._bar.add_task("starting", total=total, loss="")

    def phase(self, name: str) -> None:
        """Show the phase."""
        if self._task is not None:
            self._bar.update(self._task, description=name)

    def advance(self, units: float, loss: float | None = None) -> None:
        """Advance the bar."""
        if self._task is None:
            return
        if loss is not None:
            self._bar.update(self._task, loss=f"loss {loss:.3f}")
        self._bar.advance(self._task, units)
