"""What fit leaves behind: the model, and what it says of the table it was learnt from."""

from dataclasses import dataclass, replace
from typing import Any

from diffjoint._progress import Progress
from diffjoint.diffusion.aggregate import Aggregated
from diffjoint.errors import InputError, option
from diffjoint.fitting.fit import Learned, identify, learn_to_draw
from diffjoint.fitting.model import Model, ValueModel
from diffjoint.fitting.options import Options
from diffjoint.fitting.prepare import CodedTable
from diffjoint.fitting.running import running
from diffjoint.state import Observation


@dataclass(frozen=True)
class Fitted:
    """A model, and the table it was learnt from as far as that is at hand.

    Attributes
    ----------
    model : Model
    identity : str
        What tells what was learnt from what others learnt.
    digest : str or None
        What identifies the table of ``fit``.
    inferred : Aggregated or None
        What was inferred about it.
    coded : CodedTable or None
        The table itself; copies and files do not hold it.
    """

    model: Model
    identity: str = ""
    digest: str | None = None
    inferred: Aggregated | None = None
    coded: CodedTable | None = None

    @property
    def can_draw(self) -> bool:
        """Whether a denoiser is there to draw from, or can be trained."""
        can_learn = isinstance(self.model, ValueModel) and self.model.can_learn_to_draw
        return self.model.denoiser is not None or (can_learn and self.coded is not None)

    def observe(self, coded: CodedTable) -> Observation:
        """Return what is known of a table before anything is inferred."""
        return coded.observe(self.model.space, self.model.seed)

    def is_of(self, coded: CodedTable) -> bool:
        """Return whether a table is that of ``fit``."""
        return self.inferred is not None and coded.digest == self.digest

    def infer(self, coded: CodedTable, options: Options) -> Aggregated:
        """Return what the model says of a table; what it said in ``fit`` if this is that table."""
        if self.inferred is not None and self.is_of(coded):
            return self.inferred
        model, draws = self.model, not isinstance(self.model, ValueModel)
        with running(options.n_threads, verbose=options.verbose, draws=draws) as progress:
            return model.infer(self.observe(coded), options.memory_bytes, progress)

    def check_can_draw(self) -> None:
        """Raise, with what to do, if there is nothing to draw from."""
        if self.can_draw:
            return
        if isinstance(self.model, ValueModel) and not self.model.can_learn_to_draw:
            raise InputError(
                "Draws need diffjoint's own model of the values; this imputer was fitted with "
                f"{option('imputer')}, whose values do not vary. Fit with "
                f"{option('imputer', None)} to sample.",
                parameter="imputer",
            )
        if self.inferred is None:
            raise InputError(
                "Draws need a model that was saved with them; this one was saved without. Where it "
                "was fitted, save it with save(path, draws=True) or diffjoint fit --draws; or fit "
                "again here. Everything but sample works without."
            )
        raise InputError(
            "Drawing is learnt from the table of fit when draws are first asked for; this is a "
            "copy of an imputer, which does not hold that table. Call sample, or "
            "save(path, draws=True), before copying, or fit again."
        )

    def ready_to_draw(
        self, options: Options, progress: Progress
    ) -> tuple["Fitted", list[dict[str, Any]]]:
        """Return the same with a denoiser, trained now if there was none, and how training went."""
        model, coded, inferred = self.model, self.coded, self.inferred
        if not isinstance(model, ValueModel) or coded is None or inferred is None:
            raise TypeError("a denoiser is trained from the table of fit")
        model, history = learn_to_draw(model, coded, inferred, options, progress)
        return replace(self, model=model), history


def fitted_from(learned: Learned, coded: CodedTable) -> Fitted:
    """Return what fit leaves behind of what was learnt from a table."""
    identity = identify(learned.model, learned.inferred, coded.digest)
    return Fitted(learned.model, identity, coded.digest, learned.inferred, coded)
