"""How far long work has come, for whoever wants to know."""

from collections.abc import Callable
from html import escape
from importlib import import_module
from time import monotonic
from types import TracebackType
from typing import Any, Protocol, Self

import rich.progress as bars
from rich.console import Console


class Progress(Protocol):
    """Listens to long work. One unit is one row through the network."""

    def begin(self, total: float) -> None:
        """Work of ``total`` units starts."""

    def phase(self, name: str) -> None:
        """The work turns to something else."""

    def advance(self, units: float, loss: float | None = None) -> None:
        """``units`` more are done."""


class NoProgress:
    """A listener that says nothing."""

    def begin(self, total: float) -> None:
        """Say nothing."""

    def phase(self, name: str) -> None:
        """Say nothing."""

    def advance(self, units: float, loss: float | None = None) -> None:
        """Say nothing."""


def progress_bar() -> "ProgressBar | NotebookBar":
    """The bar that can be seen where this runs: in a notebook, or in a terminal."""
    console = Console(stderr=True)
    return NotebookBar() if console.is_jupyter else ProgressBar(console)


class NotebookBar:
    """A bar in a notebook, which needs no widgets; it goes away when the work is done."""

    BETWEEN = 0.25
    """Seconds between two pictures."""

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
        """Start the bar anew."""
        self._done, self._total, self._start, self._shown = 0.0, total, monotonic(), -1.0
        self._phase, self._loss = "starting", ""

    def phase(self, name: str) -> None:
        """Name what is going on."""
        self._phase = name
        self._show()

    def advance(self, units: float, loss: float | None = None) -> None:
        """Move the bar on."""
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
    """Passes on what it hears of work whose units are worth more to the listener."""

    def __init__(self, listener: Progress, worth: float) -> None:
        self._listener, self._worth = listener, worth

    def begin(self, total: float) -> None:
        """Work starts."""
        self._listener.begin(total * self._worth)

    def phase(self, name: str) -> None:
        """The work turns to something else."""
        self._listener.phase(name)

    def advance(self, units: float, loss: float | None = None) -> None:
        """So many more are done."""
        self._listener.advance(units * self._worth, loss)


class ProgressBar:
    """A bar in the terminal: phase, loss, time gone and time left."""

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
        """What the bar says is left; None while it cannot say."""
        return None if self._task is None else self._bar.tasks[-1].time_remaining

    def begin(self, total: float) -> None:
        """Start the bar anew."""
        if self._task is not None:
            self._bar.remove_task(self._task)
        self._task = self._bar.add_task("starting", total=total, loss="")

    def phase(self, name: str) -> None:
        """Name what is going on."""
        if self._task is not None:
            self._bar.update(self._task, description=name)

    def advance(self, units: float, loss: float | None = None) -> None:
        """Move the bar on."""
        if self._task is None:
            return
        if loss is not None:
            self._bar.update(self._task, loss=f"loss {loss:.3f}")
        self._bar.advance(self._task, units)
