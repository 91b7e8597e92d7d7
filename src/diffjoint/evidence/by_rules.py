"""What a rule that the table follows says of a column's missing cells, as far as rows bear it out.

Where the rule fails there is nothing to record, but for exceptions. Where it holds losses explain
what is missing, as far as the column's rate does. Where the rule cannot be told, since a cell that
it asks is missing too, rows in which it can be told show how often it fails in rows like that one,
and the column itself how often it is lost along with such a gate.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from diffjoint._types import Mask, Values
from diffjoint.evidence.folds import TINY, Judged, to_logit
from diffjoint.state.rules import TRUE, UNDECIDED, Answers, grounds_of, is_false
from diffjoint.trees import Trees

MOSTLY = 0.5
"""Share of the cells missing where a rule holds that losses must explain.

If they explain less there is another reason, and cells are judged one by one."""


@dataclass(frozen=True)
class RuleEvidence:
    """What was learnt of a column from its rule.

    Attributes
    ----------
    fails : array of shape (MOST_GROUNDS,)
        P(meaningful) of a missing cell where the rule fails, on each ground that it may fail on.
    missing_logit : float
        Logit of how often the cell is missing where the rule holds.
    nearest : array of shape (3,)
        How near to 0 probabilities may be where the rule holds; and how near to 0, and to 1, where
        it cannot be told.
    undecided : tuple of Trees
        Log odds that the rule fails where it cannot be told; empty if there was too little to
        learn from, and cells are judged as if there were no rule.
    shift : float
        What is added to these: the column is not lost along with each missing gate.
    """

    fails: Values
    missing_logit: float
    nearest: Values
    undecided: tuple[Trees, ...] = ()
    shift: float = 0.0

    def probability(
        self, rows: Values, answers: Answers, likely: Values, loss_logit: float
    ) -> Values:
        """Return P(meaningful) of missing cells.

        Parameters
        ----------
        rows : array of shape (n_rows, n_columns)
        answers : array of shape (n_rows,)
        likely : array of shape (n_rows,)
            What is said of the cells without the rule.
        loss_logit : float
            Logit of the column's loss rate.
        """
        told = self._decided(answers, likely, loss_logit)
        waits = answers == UNDECIDED
        if self.undecided and waits.any():
            told[waits] = expit(self.undecided[0].logit(rows[waits]) + self.shift)
        told[waits] = np.clip(told[waits], self.nearest[1], 1 - self.nearest[2])
        return told

    def settle(self, judged: Judged, answers: Answers, loss_logit: float) -> Judged:
        """Return what is said of cells, and made surer by the rule wherever it can be told.

        The mean of both in log odds counts, but makes no cell less sure.
        """
        settled, likely = self.settles(answers, loss_logit), judged.probability
        by_rule = self._decided(answers, likely, loss_logit)
        both = expit((to_logit(likely) + to_logit(by_rule)) / 2)
        surer = np.where(is_false(answers), np.maximum(likely, both), np.minimum(likely, both))
        rho = judged.loss_rate
        phi = surer * rho / np.maximum(1 - surer * (1 - rho), TINY)
        mm_rate = np.where(settled, phi, judged.mm_rate)
        return replace(judged, missing_rate=rho + (1 - rho) * mm_rate, mm_rate=mm_rate)

    def _decided(self, answers: Answers, likely: Values, loss_logit: float) -> Values:
        """Return P(meaningful) of missing cells, by the rule where it fails, or holds."""
        told = np.where(is_false(answers), self.fails[grounds_of(answers)], likely)
        explained = self.explained(loss_logit)
        if explained >= MOSTLY:
            told[answers == TRUE] = max(1 - explained, self.nearest[0])
        return told

    def missing_rate(self, answers: Answers, missing_rate: Values) -> Values:
        """Return how often cells are missing, given how often they are without the rule."""
        by_rule = np.where(is_false(answers), self.fails[grounds_of(answers)], missing_rate)
        return np.where(answers == TRUE, expit(self.missing_logit), by_rule)

    def explained(self, loss_logit: float) -> float:
        """Return the share of the cells missing where the rule holds that losses explain."""
        return float(np.exp(min(0.0, loss_logit - self.missing_logit)))

    def settles(self, answers: Answers, loss_logit: float) -> Mask:
        """Return the cells of which the rule alone decides."""
        holds = (answers == TRUE) & (self.explained(loss_logit) >= MOSTLY)
        settled: Mask = holds | is_false(answers)
        return settled
