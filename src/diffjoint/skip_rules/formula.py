"""Conditions joined by "and" and "or"."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from diffjoint.skip_rules.atoms import Atom
from diffjoint.skip_rules.gates import Codes, Gates
from diffjoint.state.rules import Answers

MOST_ATOMS = 3
"""Conditions that a rule is made of at most."""


@dataclass(frozen=True)
class Formula:
    """Conditions, each joined with all before it: ``a``, ``a and b`` or ``(a and b) or c``.

    Attributes
    ----------
    atoms : tuple of Atom
    by_or : tuple of bool
        Whether each condition after the first is joined by "or" rather than "and".
    """

    atoms: tuple[Atom, ...]
    by_or: tuple[bool, ...] = ()

    @property
    def columns(self) -> frozenset[int]:
        """The columns that it asks."""
        return frozenset(atom.column for atom in self.atoms)

    @property
    def cost(self) -> float:
        """Natural logarithm of the number of formulas that it was chosen from."""
        return float(sum(atom.cost for atom in self.atoms) + len(self.by_or) * np.log(2))

    def with_atom(self, atom: Atom, by_or: bool) -> "Formula":
        """Return the formula joined with one more condition."""
        return Formula((*self.atoms, atom), (*self.by_or, by_or))

    def with_atom_at(self, place: int, atom: Atom, by_or: bool) -> "Formula":
        """Return a formula of two conditions, one of them joined with a third."""
        first, last = self.atoms[place], self.atoms[1 - place]
        return Formula((first, atom, last), (by_or, *self.by_or))

    def replace(self, place: int, atom: Atom) -> "Formula":
        """Return the formula with another condition at one place."""
        atoms = list(self.atoms)
        atoms[place] = atom
        return Formula(tuple(atoms), self.by_or)

    def without(self, place: int) -> "Formula":
        """Return the formula without one of its conditions."""
        joins = list(self.by_or)
        del joins[max(place - 1, 0)]
        return Formula(self.atoms[:place] + self.atoms[place + 1 :], tuple(joins))

    def join(self, parts: Sequence[Answers]) -> Answers:
        """Return the formula's answers, given those of its conditions."""
        joined = parts[0]
        for by_or, part in zip(self.by_or, parts[1:], strict=True):
            joined = (np.maximum if by_or else np.minimum)(joined, part)
        return joined

    def answers(self, gates: Gates, slots: Codes) -> Answers:
        """Return TRUE, FALSE or UNDECIDED for rows with these slots of all columns."""
        return self.join([atom.answers(gates, slots) for atom in self.atoms])
