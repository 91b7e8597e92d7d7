"""What every parameter and setting may be, in one table.

A parameter that depends on the table, such as the labels in ``mm_columns``, is checked against the
table where that is read.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from os import PathLike
from typing import Any, get_args

from diffjoint.errors import InputError, option
from diffjoint.parameters.choices import (
    Checkboxes,
    DetectorName,
    DrawsName,
    FirstFill,
    Fusion,
    IntegerSummary,
    MMOutput,
    PresetName,
    Sampler,
    Unseen,
)

AUTO = "auto"
"""What stands for a search in place of the columns' names."""
_SIZE = re.compile(r"([0-9_.eE+-]+)\s*(B|KB|MB|GB)?")
_BYTES = {None: 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}


class Constraint:
    """What a parameter may be."""

    expected = ""
    advice = ""

    def allows(self, value: Any) -> bool:
        """Return whether the parameter may be ``value``."""
        raise NotImplementedError

    def problem(self, value: Any) -> str | None:
        """Return what is wrong with a value, to follow the parameter's name; None: nothing."""
        if self.allows(value):
            return None
        return f"must be {self.expected}; got {value!r}.{self.advice}"


@dataclass(frozen=True)
class OneOf(Constraint):
    """One of a few values."""

    choices: tuple[Any, ...]

    @property
    def expected(self) -> str:  # type: ignore[override]
        """The choices."""
        return f"one of {', '.join(map(repr, self.choices))}"

    def allows(self, value: Any) -> bool:
        """Return whether it is a choice."""
        return value in self.choices


@dataclass(frozen=True)
class Whole(Constraint):
    """A whole number."""

    at_least: int

    @property
    def expected(self) -> str:  # type: ignore[override]
        """The lowest number."""
        return f"a whole number of at least {self.at_least}"

    def allows(self, value: Any) -> bool:
        """Return whether it is whole and large enough."""
        is_whole = isinstance(value, Integral) and not isinstance(value, bool)
        return is_whole and value >= self.at_least


class Number(Constraint):
    """A number."""

    expected = "a number"

    def allows(self, value: Any) -> bool:
        """Return whether it is a number."""
        return isinstance(value, Real) and not isinstance(value, bool)


class Positive(Number):
    """A positive, finite number."""

    expected = "a positive number"

    def allows(self, value: Any) -> bool:
        """Return whether it is positive and finite."""
        return super().allows(value) and 0.0 < float(value) < math.inf


class NotNegative(Number):
    """A finite number of at least 0."""

    expected = "a number of at least 0"

    def allows(self, value: Any) -> bool:
        """Return whether it is 0 or positive, and finite."""
        return super().allows(value) and 0.0 <= float(value) < math.inf


class Share(Number):
    """A number between 0 and 1, neither of the two."""

    expected = "a number between 0 and 1"

    def allows(self, value: Any) -> bool:
        """Return whether it is above 0 and below 1."""
        return super().allows(value) and 0.0 < float(value) < 1.0


class Rates(Number):
    """A loss rate, or loss rates by column."""

    expected = "at least 0 and below 1"
    advice = " It is the share of cells that were lost where there was something to record."

    def allows(self, value: Any) -> bool:
        """Return whether it is a rate."""
        return super().allows(value) and 0.0 <= float(value) < 1.0

    def problem(self, value: Any) -> str | None:
        """Return what is wrong with a rate, or with the first wrong one of several."""
        if not isinstance(value, Mapping):
            return super().problem(value)
        for label, rate in value.items():
            if not self.allows(rate):
                return f"must be {self.expected} for {label!r}; got {rate!r}.{self.advice}"
        return None


class Columns(Constraint):
    """Labels of columns, or "auto"."""

    expected = "a list of columns"

    def allows(self, value: Any) -> bool:
        """Return whether it can be gone through, and is no name by itself."""
        return value == AUTO if isinstance(value, str) else isinstance(value, Iterable)

    def problem(self, value: Any) -> str | None:
        """Return what is wrong, and how to name the one column that was meant."""
        said = super().problem(value)
        return said and f"{said} Pass [{value!r}], or {AUTO!r} to have them found."


class ReviewBand(Constraint):
    """Two probabilities."""

    expected = (
        "two probabilities, the lower one first, such as (0.2, 0.8), or None to name no cells"
    )

    def allows(self, value: Any) -> bool:
        """Return whether both are probabilities, in order."""
        is_pair = not isinstance(value, str) and isinstance(value, Sequence) and len(value) == 2
        if not is_pair or not all(Number().allows(bound) for bound in value):
            return False
        return bool(0.0 <= value[0] < value[1] <= 1.0)


class Size(Constraint):
    """An amount of memory."""

    expected = "a number of bytes or a size such as '500MB' or '2GB'"

    def allows(self, value: Any) -> bool:
        """Return whether it means a byte at least."""
        return n_bytes(value) > 0


@dataclass(frozen=True)
class Having(Constraint):
    """An object with some methods."""

    methods: tuple[str, ...]
    expected: str
    advice: str = ""

    def allows(self, value: Any) -> bool:
        """Return whether it has them, and is no class."""
        return not isinstance(value, type) and all(hasattr(value, name) for name in self.methods)


class Truth(Constraint):
    """True or False, or a number of at least 0 that stands for one."""

    expected = "True or False"

    def allows(self, value: Any) -> bool:
        """Return whether it is a truth value, or such a number."""
        return value in (True, False) or Whole(0).allows(value)


class Function(Constraint):
    """Something to call."""

    expected = "a function of the imputer, or None"

    def allows(self, value: Any) -> bool:
        """Return whether it can be called."""
        return callable(value)


class RandomState(Constraint):
    """A seed, or a state of numpy's generator of old."""

    expected = "a whole number from 0 to 2**32 - 1, a numpy RandomState or None"

    def allows(self, value: Any) -> bool:
        """Return whether scikit-learn's ``check_random_state`` takes it."""
        return hasattr(value, "randint") or (Whole(0).allows(value) and value < 2**32)


class PathName(Constraint):
    """A path."""

    expected = "a path"

    def allows(self, value: Any) -> bool:
        """Return whether it is text or an object that is a path."""
        return isinstance(value, str | PathLike)


class Device(Constraint):
    """Where torch is to run."""

    expected = "'auto', 'cpu', 'cuda' or another name that torch knows"

    def allows(self, value: Any) -> bool:
        """Return whether it is a name, a number of a device, or torch's own object."""
        return isinstance(value, str) or hasattr(value, "type") or Whole(0).allows(value)


@dataclass(frozen=True)
class ByColumn(Constraint):
    """A mapping from columns."""

    to_what: str
    example: str

    def allows(self, value: Any) -> bool:
        """Return whether it is a mapping."""
        return isinstance(value, Mapping)

    def problem(self, value: Any) -> str | None:
        """Return what is wrong, with an example."""
        if self.allows(value):
            return None
        return (
            f"must map columns to {self.to_what}; got {value!r}. Pass a dict such as "
            f"{self.example}."
        )


class TextOrByColumn(Constraint):
    """Text, or a mapping from columns to texts."""

    expected = "text, or texts by column such as {'deck': 'never recorded'}"

    def allows(self, value: Any) -> bool:
        """Return whether it is text, or holds nothing else."""
        texts = value.values() if isinstance(value, Mapping) else [value]
        return all(isinstance(text, str) for text in texts)


@dataclass(frozen=True)
class OrNone(Constraint):
    """None, or what another constraint allows."""

    other: Constraint

    def problem(self, value: Any) -> str | None:
        """Return what is wrong with a value that is not None."""
        return None if value is None else self.other.problem(value)


SETTINGS: Mapping[str, Constraint] = {
    "sampler": OneOf(get_args(Sampler)),
    "n_boosters": Whole(1),
    "n_iterations": Whole(1),
    "n_draws": Whole(1),
    "n_steps": Whole(2),
    "n_inpaint_repeats": Whole(1),
    "width": Whole(4),
    "batch_size": Whole(1),
    "learning_rate": Positive(),
    "max_epochs": Whole(1),
    "patience": Whole(1),
    "scheduler_patience": OrNone(Whole(1)),
    "warm_start": OneOf((True, False)),
    "log_sigma_mean": Number(),
    "log_sigma_std": Positive(),
    "sigma_data": Positive(),
    "sigma_min": Positive(),
    "sigma_max": Positive(),
    "rho": Positive(),
    "fusion": OneOf(get_args(Fusion)),
    "threshold": Share(),
    "joint": OneOf((True, False)),
    "integer_summary": OneOf(get_args(IntegerSummary)),
    "first_fill": OneOf(get_args(FirstFill)),
    "standardised": OneOf((True, False)),
    "churn": NotNegative(),
}
"""What the numbers of the method may be, and its choices."""
PARAMETERS: Mapping[str, Constraint] = {
    "mm_columns": OrNone(Columns()),
    "imputer": OrNone(
        Having(
            ("get_params", "set_params", "fit", "transform"),
            "a scikit-learn imputer, with fit, transform and get_params, such as KNNImputer()",
            " Pass an instance, or None for diffjoint's own values.",
        )
    ),
    "preset": OneOf(get_args(PresetName)),
    "detector": OneOf(get_args(DetectorName)),
    "loss_rate": OrNone(Rates()),
    "threshold": OrNone(SETTINGS["threshold"]),
    "reason_codes": OrNone(
        ByColumn("codes", "{'income': {'refused': 'lost', 'inapplicable': 'meaningful'}}")
    ),
    "rules": OrNone(ByColumn("conditions", "{'spouse_age': 'married == \"yes\"'}")),
    "use_found_rules": OneOf((True, False)),
    "review_band": OrNone(ReviewBand()),
    "column_kinds": OrNone(ByColumn("kinds", "{'zip': 'categorical'}")),
    "checkboxes": OneOf(get_args(Checkboxes)),
    "unseen": OneOf(get_args(Unseen)),
    "mm_output": OneOf(get_args(MMOutput)),
    "mm_label": TextOrByColumn(),
    "mm_fill": OrNone(ByColumn("values", "{'pack_years': 0}")),
    "bounds": OrNone(ByColumn("pairs of a lowest and a highest value", "{'age': (0, 120)}")),
    "diffusion": OrNone(
        Having(("with_params",), "a Diffusion, such as Diffusion(width=64), or None")
    ),
    "n_boosters": OrNone(SETTINGS["n_boosters"]),
    "n_threads": OrNone(Whole(1)),
    "memory_limit": Size(),
    "callback": OrNone(Function()),
    "verbose": Truth(),
    "random_state": OrNone(RandomState()),
}
"""What the estimator's parameters may be."""
OF_THE_RUN: Mapping[str, Constraint] = {"device": Device(), "checkpoint": OrNone(PathName())}
"""What a ``Diffusion`` may hold beside settings."""


def check(name: str, value: Any) -> None:
    """Raise unless a parameter or setting may be ``value``."""
    _check(name, value, PARAMETERS.get(name) or SETTINGS[name])


def check_all(given: Mapping[str, Any], constraints: Mapping[str, Constraint]) -> None:
    """Raise unless all that is given may be what it is."""
    for name, constraint in constraints.items():
        _check(name, given[name], constraint)


def check_choice(name: str, value: object, choices: tuple[Any, ...]) -> None:
    """Raise unless ``value`` is one of ``choices``."""
    _check(name, value, OneOf(choices))


def check_count(name: str, value: object) -> None:
    """Raise unless ``value`` is a whole number, and not negative."""
    _check(name, value, Whole(0))


def check_draws(by: object) -> None:
    """Raise unless draws can be made by ``by``, or it is None: left to the imputer."""
    if by is not None:
        check_choice("draws", by, get_args(DrawsName))


def n_bytes(size: Any) -> int:
    """Return the bytes meant by ``1_000_000``, ``"500MB"`` or ``"2GB"``; 0 if none are.

    Examples
    --------
    >>> n_bytes("1.5GB")
    1500000000
    """
    found = _SIZE.fullmatch(str(size).strip().upper())
    if found is None:
        return 0
    try:
        return max(0, int(float(found[1].replace("_", "")) * _BYTES[found[2]]))
    except (ValueError, OverflowError):
        return 0


def _check(name: str, value: Any, constraint: Constraint) -> None:
    problem = constraint.problem(value)
    if problem is not None:
        named = option(name) if name.isidentifier() else name
        raise InputError(f"{named} {problem}", parameter=name)
