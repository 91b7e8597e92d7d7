"""What an imputer is asked to do: its parameters, checked."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from diffjoint._extras import need_torch
from diffjoint.errors import InputError, option, warn_user
from diffjoint.parameters.checks import OF_THE_RUN, PARAMETERS, check_all
from diffjoint.parameters.choices import Band, Checkboxes, MMOutput
from diffjoint.settings import (
    Diffusion,
    Settings,
    idle_settings,
    parse_bytes,
    settings_for,
    settings_types,
)

NOT_OF_A_DIFFUSION = ("threshold", "joint")
"""Settings that a wrapped imputer makes use of, too."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """The parameters of ``SelectiveImputer``, which explains them; ``diffusion`` is never None."""

    mm_columns: Sequence[Hashable] | str | None
    imputer: Any
    preset: str
    detector: str
    loss_rate: float | Mapping[Any, float] | None
    threshold: float | None
    reason_codes: Mapping[Any, Any] | None
    rules: Mapping[Any, str] | None
    use_found_rules: bool
    review_band: Band | None
    column_kinds: Mapping[Any, str] | None
    checkboxes: Checkboxes
    unseen: str
    mm_output: MMOutput
    mm_label: str | Mapping[Any, str]
    mm_fill: Mapping[Any, Any] | None
    bounds: Mapping[Any, Any] | None
    diffusion: Diffusion
    n_boosters: int | None
    n_threads: int | None
    memory_limit: int | str
    verbose: bool

    @property
    def memory_bytes(self) -> int:
        """The memory limit in bytes."""
        return parse_bytes(self.memory_limit)

    @property
    def were_found(self) -> bool:
        """Whether the searched columns are to be found rather than named."""
        return isinstance(self.mm_columns, str)

    @property
    def numbers(self) -> dict[str, Any]:
        """Every setting by name; None where it is left to the preset."""
        given = {**self.diffusion.get_params(), **vars(self)}
        return {name: given[name] for name in settings_types()}

    @property
    def named_columns(self) -> dict[str, list[Hashable]]:
        """Columns that something is asked of, by the option that names them."""
        named = {
            name: list(given)
            for name in ("mm_columns", "rules", "bounds")
            if isinstance(given := getattr(self, name), Collection) and not isinstance(given, str)
        }
        codes = self.reason_codes if isinstance(self.reason_codes, Mapping) else {}
        own = [
            label
            for label, meanings in codes.items()
            if isinstance(meanings, Mapping) and any(why != "missing" for why in meanings.values())
        ]
        return {**named, "reason_codes": own}


def read_options(params: Mapping[str, Any]) -> Options:
    """Return an estimator's parameters as options; raise if one cannot be what it is."""
    check_all(params, PARAMETERS)
    diffusion = params["diffusion"] or Diffusion()
    check_all(diffusion.get_params(), OF_THE_RUN)
    known = {name: params[name] for name in (field.name for field in fields(Options))}
    return Options(**{**known, "diffusion": diffusion})


def choose_settings(options: Options) -> Settings:
    """Return the preset's settings with those given on top; raise or warn if they do not agree."""
    if options.imputer is not None:
        _check_wrapping(options)
    numbers = options.numbers
    if options.detector == "paper":
        if numbers["sampler"] == "amortised":
            raise InputError(
                f"{option('detector', 'paper')} decides by the draws of "
                f"{option('sampler', 'inpaint')}; got {option('sampler', 'amortised')}. Leave "
                f"{option('sampler')} out, or use {option('detector', 'evidence')}.",
                parameter="sampler",
            )
        numbers["sampler"] = "inpaint"
    settings = settings_for(options.preset, **numbers)
    if options.imputer is not None:
        _warn_of_what_is_not_learnt(options)
    else:
        if not settings.is_amortised:
            need_torch(_asks_for_draws(options))
        _warn_of_what_is_not_used(options, settings)
    return settings


def _asks_for_draws(options: Options) -> str:
    """Return the option by which values are drawn by the diffusion model."""
    if options.detector == "paper":
        return option("detector", "paper")
    is_set = options.numbers["sampler"] is not None
    return option("sampler", "inpaint") if is_set else option("preset", options.preset)


def _check_wrapping(options: Options) -> None:
    """Raise if something is asked for that another imputer's values cannot go with."""
    checkpoint = options.diffusion.checkpoint
    set_to = {}
    if options.detector == "paper":
        set_to["detector"] = options.detector
    if checkpoint is not None:
        set_to["checkpoint"] = str(checkpoint)
    for name, value in set_to.items():
        raise InputError(
            f"{option('imputer')} gives the values, so that no diffusion model is trained; "
            f"{option(name, value)} needs one. Leave out one or the other.",
            parameter=name,
        )


def _warn_of_what_is_not_learnt(options: Options) -> None:
    """Warn of settings of models that another imputer stands in for."""
    usual = asdict(settings_for(options.preset))
    unused = {
        name: value
        for name, value in options.numbers.items()
        if name not in NOT_OF_A_DIFFUSION and value not in (None, usual[name])
    }
    if unused:
        warn_user(
            f"{_listed(dict(sorted(unused.items())))}: set for diffjoint's own models, which are "
            f"not learnt where {option('imputer')} gives the values. Leave it out."
        )


def _warn_of_what_is_not_used(options: Options, settings: Settings) -> None:
    """Warn of settings that the sampler makes no use of."""
    unused = idle_settings(options.preset, settings)
    if options.diffusion.checkpoint is not None and settings.is_amortised:
        unused["checkpoint"] = str(options.diffusion.checkpoint)
    if not unused:
        return
    other = "inpaint" if settings.is_amortised else "amortised"
    or_else = "" if options.detector == "paper" else f", or set {option('sampler', other)}"
    warn_user(
        f"{_listed(unused)}: set, but {option('sampler', settings.sampler)} does not use it, so "
        f"that it changes nothing. Leave it out{or_else}."
    )


def _listed(values: Mapping[str, Any]) -> str:
    """Parameters and their values in a row."""
    plain = {n: v.item() if hasattr(v, "item") else v for n, v in values.items()}
    return ", ".join(option(name, value) for name, value in plain.items())
