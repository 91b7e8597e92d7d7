"""Every number of the method, in one place, and what options can be set to.

The estimator, the command line and the documentation read their defaults here. Nothing else is
loaded for it.
"""

import dataclasses
from collections.abc import Collection
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, get_args, get_type_hints

from diffjoint.errors import InputError, option
from diffjoint.parameters.checks import SETTINGS, check, check_all, n_bytes
from diffjoint.parameters.choices import DetectorName, FirstFill, Fusion, IntegerSummary, Sampler

LogisticName = Literal["mcar", "mar", "mnar"]
LifeName = Literal["own-rates", "break-off", "blocks", "propensity", "survey"]
MechanismName = Literal[LogisticName, LifeName]

DETECTOR_NAMES: tuple[str, ...] = get_args(DetectorName)
MECHANISM_NAMES: tuple[str, ...] = get_args(MechanismName)
"""The name of every way to tell cells apart, and of every way to lose them."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of Diff-Joint; the defaults are the paper's own.

    Attributes
    ----------
    sampler : {"amortised", "inpaint"}
        A denoiser that is told what is observed: trained by hiding observed cells, it draws
        without repeats, and boosted trees give the values to fill in. Or the paper's, which
        holds observed cells to their values while it draws, and fills in what the draws agree on.
    n_boosters : int
        Boosted models of each column whose mean is filled in by the amortised sampler. Several are
        a little nearer the truth than one, and take longer to learn. Unless it is set by hand,
        there are three for tables of fewer than 5,000 rows.
    n_iterations : int
        Passes through Algorithm 1 (train, draw, aggregate). One is the paper's
        one-refinement variant. The amortised sampler needs one alone.
    n_draws : int
        Conditional draws per row and pass, the paper's K.
    n_steps : int
        Noise levels of the reverse diffusion, the paper's M.
    n_inpaint_repeats : int
        Times each noise level is walked, so that drawn and observed cells agree.
    width : int
        Hidden and noise-embedding width of the denoiser. Unless it is set by hand, it is twice as
        much for the amortised sampler on tables of more than 30 coordinates.
    batch_size : int
        Rows per training step.
    learning_rate : float
        Adam's step size.
    max_epochs : int
        Epochs per pass at most.
    patience : int
        Epochs without a better loss after which training stops.
    scheduler_patience : int or None
        Epochs without a better loss after which the learning rate is cut by a tenth.
        None: never.
    warm_start : bool
        Start each pass from the last pass's denoiser instead of a new one.
    log_sigma_mean, log_sigma_std : float
        Training noise: log(sigma) is normal with these.
    sigma_data : float
        Standard deviation of encoded numbers.
    sigma_min, sigma_max, rho : float
        Noise schedule of the sampler.
    fusion : {"or", "and", "uncertainty", "vote"}
        How the uncertainty cluster and the vote of the drawn masks decide together.
    threshold : float
        P(meaningful) above which a missing cell is kept as NA.
    joint : bool
        Model the mask with the values. False: every missing cell is imputed (DiffPuter).
    integer_summary : {"mean", "mode"}
        Integer columns as numbers (rounded mean, standard deviation) or, as the paper
        has it, as discrete values (mode, entropy).
    first_fill : {"any", "mean"}
        What the first pass starts from in missing cells: any of their column's values, as in the
        paper, or the mean of each coordinate, as in DiffPuter's code.
    standardised : bool
        Scale the coordinates of levels as those of numbers are, as in DiffPuter's code.
    churn : float
        Noise that is added before each step down, EDM's S_churn. DiffPuter's code has 1.
    """

    sampler: Sampler = "inpaint"
    n_boosters: int = 1
    n_iterations: int = 10
    n_draws: int = 30
    n_steps: int = 50
    n_inpaint_repeats: int = 10
    width: int = 1024
    batch_size: int = 4096
    learning_rate: float = 1e-4
    max_epochs: int = 1001
    patience: int = 200
    scheduler_patience: int | None = None
    warm_start: bool = False
    log_sigma_mean: float = -1.2
    log_sigma_std: float = 1.2
    sigma_data: float = 0.5
    sigma_min: float = 0.002
    sigma_max: float = 80.0
    rho: float = 7.0
    fusion: Fusion = "or"
    threshold: float = 0.5
    joint: bool = True
    integer_summary: IntegerSummary = "mode"
    first_fill: FirstFill = "any"
    standardised: bool = False
    churn: float = 0.0

    def __post_init__(self) -> None:
        check_all(vars(self), SETTINGS)
        if not self.sigma_min < self.sigma_max:
            raise InputError(
                f"{option('sigma_min')} must lie below {option('sigma_max')}; got {self.sigma_min} "
                f"and {self.sigma_max}. The paper uses 0.002 and 80.",
                parameter="sigma_min",
            )

    @property
    def is_amortised(self) -> bool:
        """Whether the denoiser is told what is observed."""
        return self.sampler == "amortised"


@dataclass(frozen=True, kw_only=True)
class Diffusion:
    """Settings of the diffusion model, for ``SelectiveImputer(diffusion=Diffusion(...))``.

    What is left at None comes from the imputer's ``preset``. Values never change: to try others,
    call ``imputer.set_params(diffusion__width=64)``, or search over ``diffusion__width``.

    Parameters
    ----------
    sampler : {"amortised", "inpaint"}, optional
        A denoiser that is told what is observed, beside boosted trees for the values to fill in;
        or the paper's, whose draws say what to fill in. If not given: as ``preset`` has it, or the
        paper's for ``detector="paper"``, which decides by it.
    n_iterations, n_draws, n_inpaint_repeats : int, optional
        Passes, draws per row, and walks per noise level; for ``sampler="inpaint"``.
    n_steps : int, optional
        Noise levels.
    width : int, optional
        Hidden width of the denoiser. The default's is fitted to the table, see ``settings_``.
    batch_size, learning_rate, max_epochs, patience : optional
        How the denoiser is trained.
    scheduler_patience, warm_start : optional
        Learning rate cuts, and whether a pass goes on from the last one's denoiser; for
        ``sampler="inpaint"``.
    log_sigma_mean, log_sigma_std, sigma_data, sigma_min, sigma_max, rho : float, optional
        The noise.
    fusion : {"or", "and", "uncertainty", "vote"}, optional
        How the two signs of a meaningful cell decide together; for ``detector="paper"``.
    joint : bool, optional
        False: model the values alone and impute everything (DiffPuter).
    integer_summary : {"mean", "mode"}, optional
        How draws of integer columns become one value; for ``sampler="inpaint"``.
    first_fill, standardised, churn : optional
        Where DiffPuter's code differs from the paper's algorithm, see :meth:`diffputer`; for
        ``sampler="inpaint"``.
    device : str
        "auto" (CUDA where there is one), "cpu", "cuda" or any name torch knows.
    checkpoint : path, optional
        A folder to save each pass in, and to go on from after an interruption. For
        ``sampler="inpaint"``; the default makes no passes.

    Examples
    --------
    >>> from diffjoint import Diffusion, SelectiveImputer
    >>> imputer = SelectiveImputer(diffusion=Diffusion(width=64))
    >>> imputer.set_params(diffusion__max_epochs=100).diffusion
    Diffusion(width=64, max_epochs=100)
    """

    sampler: Sampler | None = None
    n_iterations: int | None = None
    n_draws: int | None = None
    n_steps: int | None = None
    n_inpaint_repeats: int | None = None
    width: int | None = None
    batch_size: int | None = None
    learning_rate: float | None = None
    max_epochs: int | None = None
    patience: int | None = None
    scheduler_patience: int | None = None
    warm_start: bool | None = None
    log_sigma_mean: float | None = None
    log_sigma_std: float | None = None
    sigma_data: float | None = None
    sigma_min: float | None = None
    sigma_max: float | None = None
    rho: float | None = None
    fusion: Fusion | None = None
    joint: bool | None = None
    integer_summary: IntegerSummary | None = None
    first_fill: FirstFill | None = None
    standardised: bool | None = None
    churn: float | None = None
    device: Any = "auto"
    checkpoint: Any = None

    @classmethod
    def diffputer(cls, **changed: Any) -> "Diffusion":
        """Return DiffPuter's settings, as its published code has them.

        It fills every cell: pass them with no searched columns, and ``preset="paper"``, from which
        the other numbers come.

        Parameters
        ----------
        changed
            Settings to have otherwise, such as a smaller ``width``.

        Examples
        --------
        >>> from diffjoint import SelectiveImputer
        >>> settings = Diffusion.diffputer(width=64, n_steps=10)
        >>> settings.n_inpaint_repeats, settings.churn, settings.width
        (20, 1.0, 64)
        >>> imputer = SelectiveImputer([], preset="paper", diffusion=settings)
        """
        return cls(**{**DIFFPUTER, **changed})

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the settings by name; scikit-learn clones and searches by them."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def with_params(self, **params: Any) -> "Diffusion":
        """Return a copy with some settings changed."""
        unknown = [name for name in params if name not in self.get_params()]
        if unknown:
            raise InputError(
                f"Diffusion has no setting {unknown[0]!r}; it has {', '.join(self.get_params())}.",
                parameter="diffusion",
            )
        return dataclasses.replace(self, **params)

    def __repr__(self) -> str:
        usual = {field.name: field.default for field in dataclasses.fields(self)}
        changed = {
            name: value for name, value in self.get_params().items() if value is not usual[name]
        }
        shown = (f"{name}={value!r}" for name, value in changed.items() if value != usual[name])
        return f"Diffusion({', '.join(shown)})"


DIFFPUTER = MappingProxyType(
    {
        "sampler": "inpaint",
        "joint": False,
        "n_draws": 10,
        "n_inpaint_repeats": 20,
        "max_epochs": 10_001,
        "patience": 500,
        "scheduler_patience": 40,
        "first_fill": "mean",
        "standardised": True,
        "churn": 1.0,
    }
)
"""What DiffPuter's published code has otherwise than the paper's table of hyperparameters."""


def estimator_params(**flat: Any) -> dict[str, Any]:
    """Return parameters of the estimator, with those of the diffusion model in a ``Diffusion``.

    Examples
    --------
    >>> estimator_params(n_boosters=2, width=64)
    {'n_boosters': 2, 'diffusion': Diffusion(width=64)}
    """
    names = Diffusion().get_params()
    inner = {name: value for name, value in flat.items() if name in names}
    outer = {name: value for name, value in flat.items() if name not in names}
    return {**outer, "diffusion": Diffusion(**inner)} if inner else outer


PAPER = Settings()
BALANCED_INPAINT = dataclasses.replace(
    PAPER,
    n_iterations=3,
    n_steps=15,
    width=256,
    batch_size=256,
    learning_rate=1e-3,
    max_epochs=400,
    patience=100,
    sigma_min=0.01,
    sigma_max=20.0,
    integer_summary="mean",
)
FAST_INPAINT = dataclasses.replace(
    BALANCED_INPAINT, n_iterations=2, n_steps=10, width=128, sigma_max=10.0
)
FAST = dataclasses.replace(
    FAST_INPAINT,
    sampler="amortised",
    n_iterations=1,
    n_steps=20,
    batch_size=512,
    learning_rate=2e-3,
    max_epochs=60,
    patience=15,
    log_sigma_mean=-0.6,
    log_sigma_std=1.5,
)
BALANCED = dataclasses.replace(
    FAST, n_boosters=3, n_steps=40, width=256, max_epochs=150, patience=30
)
PRESETS = MappingProxyType({"fast": FAST, "balanced": BALANCED, "paper": PAPER})
INPAINT_PRESETS = MappingProxyType(
    {"fast": FAST_INPAINT, "balanced": BALANCED_INPAINT, "paper": PAPER}
)
"""What a preset stands for where ``sampler="inpaint"`` is asked for."""
INPAINT_ONLY = (
    "n_iterations",
    "n_draws",
    "n_inpaint_repeats",
    "scheduler_patience",
    "warm_start",
    "fusion",
    "integer_summary",
    "first_fill",
    "standardised",
    "churn",
)
AMORTISED_ONLY = ("n_boosters",)
"""Settings that the amortised sampler does not use, and those that the other does not."""
MANY_COORDINATES = 30
"""Encoded width above which the denoiser's width is doubled."""
FEW_ROWS, BOOSTERS_OF_FEW = 5_000, 3
"""Below ``FEW_ROWS`` rows, average ``BOOSTERS_OF_FEW`` models to reduce variance."""
DEFAULT_PRESET = "fast"
DEFAULT_DETECTOR: DetectorName = "evidence"
DEFAULT_MEMORY_LIMIT = "1GB"
INSPECTED_ROWS = 5_000
"""Rows that a first look takes its evidence from, at most, unless told otherwise."""
NA_VALUES = ("NA", "N/A", "n/a", "<NA>", "NaN", "nan", "NULL", "null", "None", "#N/A")
"""Tokens for a missing cell in text files, unless others are named; the empty text always is."""


def settings_for(preset: str, **overrides: Any) -> Settings:
    """Return the settings of a preset, with those set by hand on top (None: not set).

    Examples
    --------
    >>> settings_for("paper", width=256).width
    256
    >>> settings_for("paper").n_draws
    30
    """
    check("preset", preset)
    chosen = {name: _plain(value) for name, value in overrides.items() if value is not None}
    presets = INPAINT_PRESETS if chosen.get("sampler") == "inpaint" else PRESETS
    return dataclasses.replace(presets[preset], **chosen)


def fitted_to(
    settings: Settings, *, n_rows: int, n_coordinates: int, by_hand: Collection[str] = ()
) -> Settings:
    """Fit the settings of a preset to a table: the denoiser's width, and how many boosters.

    Examples
    --------
    >>> small = fitted_to(settings_for("fast"), n_rows=2_000, n_coordinates=300)
    >>> small.width, small.n_boosters
    (256, 3)
    >>> fitted_to(settings_for("fast"), n_rows=14_000, n_coordinates=15) == settings_for("fast")
    True
    """
    if not settings.is_amortised:
        return settings
    fitted: dict[str, Any] = {}
    if n_coordinates > MANY_COORDINATES:
        fitted["width"] = 2 * settings.width
    if n_rows < FEW_ROWS:
        fitted["n_boosters"] = max(BOOSTERS_OF_FEW, settings.n_boosters)
    return dataclasses.replace(settings, **{n: v for n, v in fitted.items() if n not in by_hand})


def idle_settings(preset: str, settings: Settings) -> dict[str, Any]:
    """Return settings that differ from their preset and that the sampler does not use.

    Examples
    --------
    >>> idle_settings("fast", settings_for("fast", n_draws=50, width=256))
    {'n_draws': 50}
    >>> idle_settings("fast", settings_for("fast", n_draws=50, n_boosters=2, sampler="inpaint"))
    {'n_boosters': 2}
    """
    idle = INPAINT_ONLY if settings.is_amortised else AMORTISED_ONLY
    usual = PRESETS[preset] if settings.is_amortised else INPAINT_PRESETS[preset]
    set_to = {name: getattr(settings, name) for name in idle}
    return {name: value for name, value in set_to.items() if value != getattr(usual, name)}


def _plain(value: Any) -> Any:
    """Return a numpy scalar as a Python one, which JSON can carry."""
    return value.item() if hasattr(value, "item") else value


def settings_types() -> dict[str, Any]:
    """Return the name and type of every setting, in order."""
    return get_type_hints(Settings)


def parse_bytes(limit: int | str) -> int:
    """Return the bytes meant by ``1_000_000``, ``"500MB"`` or ``"2GB"``.

    Examples
    --------
    >>> parse_bytes("1.5GB")
    1500000000
    """
    check("memory_limit", limit)
    return n_bytes(limit)
