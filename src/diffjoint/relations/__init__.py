"""Relations between columns that hold in all observed rows, or nearly all."""

from diffjoint.relations.agreement import make_agree
from diffjoint.relations.equations import Equation, find_equations
from diffjoint.relations.found import Relations, find_relations, relations_of
from diffjoint.relations.lookups import Band, Lookup, find_bands, find_lookups
from diffjoint.relations.orders import find_orders
from diffjoint.relations.packing import check_relations, pack_relations, unpack_relations

__all__ = [
    "Band",
    "Equation",
    "Lookup",
    "Relations",
    "check_relations",
    "find_bands",
    "find_equations",
    "find_lookups",
    "find_orders",
    "find_relations",
    "make_agree",
    "pack_relations",
    "relations_of",
    "unpack_relations",
]
