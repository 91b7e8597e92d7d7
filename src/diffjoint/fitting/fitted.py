"""What fit leaves behind: the model, and what it says of the table it was learnt from."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from diffjoint._progress import Progress
from diffjoint.diffusion.aggregate import Aggregated
from diffjoint.draws.learn import n_sets_at_most
from diffjoint.errors import InputError, option
from diffjoint.fitting.fit import Learned, identify, learn_to_draw, learn_tree_draws_of
from diffjoint.fitting.model import Model, ValueModel
from diffjoint.fitting.options import Options
from diffjoint.fitting.prepare import CodedTable
from diffjoint.fitting.running import running
from diffjoint.parameters.choices import DrawsName
from diffjoint.state import JointState, Observation


@dataclass(frozen=True)
class Fitted:
    """A model, and the table it was learnt from as far as that is at hand.

    Attributes
    ----------
    model : Model
    identity : str
        Digest that distinguishes this model from others.
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
        """Whether there is something to draw from, or it can be learnt."""
        return self.can_learn_to_draw or bool(self._drawers)

    @property
    def can_learn_to_draw(self) -> bool:
        """Whether the table of ``fit`` is at hand, and a model whose values can vary."""
        is_ours = isinstance(self.model, ValueModel) and self.model.can_learn_to_draw
        return is_ours and self.coded is not None

    @property
    def _drawers(self) -> list[DrawsName]:
        """What there is to draw from, the first choice first."""
        model, found = self.model, list[DrawsName]()
        if isinstance(model, ValueModel) and model.tree_draws is not None:
            found.append("trees")
        if model.denoiser is not None:
            found.append("diffusion")
        return found

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

    def settle(self, coded: CodedTable, inferred: Aggregated) -> JointState:
        """Return values and calls that obey the rules, and rows that agree with themselves.

        Parameters
        ----------
        inferred : Aggregated
            What was inferred of the table.
        """
        observation, state = self.observe(coded), inferred.state
        nothing = np.zeros(state.values.shape, dtype=bool)
        agreed = self.model.make_agree(observation, state, nothing)
        settled = coded.settle(JointState(agreed, state.meaningful))
        by_rules = coded.missing & (settled.values != agreed)
        values = self.model.make_agree(observation, settled, by_rules)
        return JointState(values, settled.meaningful)

    def choose_draws(self, by: DrawsName | None) -> DrawsName:
        """Return what to draw by; raise, with what to do, if that is not possible.

        Parameters
        ----------
        by : {"trees", "diffusion"} or None
            None: trees where they can be, else what there is.
        """
        if by == "trees" and not isinstance(self.model, ValueModel):
            raise InputError(
                f"{option('draws', 'trees')} needs values by boosted trees; this imputer was "
                f"fitted with {option('sampler', 'inpaint')}, whose draws are those of the "
                f"diffusion model. Leave {option('draws')} out.",
                parameter="draws",
            )
        if self.can_learn_to_draw or (by in self._drawers if by else self._drawers):
            return by or ("trees" if self.can_learn_to_draw else self._drawers[0])
        raise self._cannot_draw(by)

    def _cannot_draw(self, by: DrawsName | None) -> InputError:
        """Return the error that says why nothing can be drawn, and what to do."""
        if isinstance(self.model, ValueModel) and not self.model.can_learn_to_draw:
            return InputError(
                "Draws need diffjoint's own model of the values; this imputer was fitted with "
                f"{option('imputer')}, whose values do not vary. Fit with "
                f"{option('imputer', None)} to sample.",
                parameter="imputer",
            )
        if self._drawers:
            return InputError(
                f"This imputer can draw by {self._drawers[0]} alone: it does not hold the table of "
                f"fit. Leave {option('draws')} out, or save it with save(path, draws={by!r}) where "
                "it was fitted.",
                parameter="draws",
            )
        if self.inferred is None:
            return InputError(
                "Draws need a model that was saved with them; this one was saved without. Where it "
                "was fitted, save it with save(path, draws=True) or diffjoint fit --draws; or fit "
                "again here. Everything but sample works without."
            )
        return InputError(
            "Drawing is learnt from the table of fit when draws are first asked for; this is a "
            "copy of an imputer, which does not hold that table. Call sample, or "
            "save(path, draws=True), before copying, or fit again."
        )

    def ready_to_draw(
        self, by: DrawsName, n_draws: int | None, options: Options, progress: Progress
    ) -> tuple["Fitted", list[dict[str, Any]] | None]:
        """Return the same with all that so many draws need, and how the denoiser's training went.

        Parameters
        ----------
        n_draws : int or None
            None: as many as models are learnt for at most.
        """
        model, coded, inferred = self.model, self.coded, self.inferred
        if not isinstance(model, ValueModel) or coded is None or inferred is None:
            return self, None
        if by == "trees":
            n_draws = n_sets_at_most(len(coded.values)) if n_draws is None else n_draws
            return replace(self, model=learn_tree_draws_of(model, coded, n_draws, progress)), None
        if model.denoiser is not None:
            return self, None
        model, history = learn_to_draw(model, coded, inferred, options, progress)
        return replace(self, model=model), history


def fitted_from(learned: Learned, coded: CodedTable) -> Fitted:
    """Return what fit leaves behind of what was learnt from a table."""
    identity = identify(learned.model, learned.inferred, coded.digest)
    return Fitted(learned.model, identity, coded.digest, learned.inferred, coded)
