"""A fitted imputer in one file, without pickle."""

import os
from collections.abc import Hashable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from diffjoint.fitting.found import plain_rules, rules_from
from diffjoint.fitting.model import BELIEF, Model, check_device, model_from
from diffjoint.fitting.params import label_from, params_from, plain_params
from diffjoint.fitting.stored import check_stored, laid_out_otherwise
from diffjoint.settings import Settings
from diffjoint.skip_rules.find import FoundRule
from diffjoint.state import JointSpace
from diffjoint.storage.bundles import Arrays, Key, read_bundle, write_bundle
from diffjoint.table import Schema

ROW_MARKS = f"{BELIEF}seen"
"""The array of the marks that rows of the table of ``fit`` are known again by."""


@dataclass(frozen=True)
class Saved:
    """All of a fitted imputer that a file holds.

    Attributes
    ----------
    params : dict
        The estimator's parameters.
    model : Model
    mm_columns : list of labels
    mm_evidence : list of dict
    kept_unjudged : tuple of str
    found_rules : tuple of FoundRule
    history : list of dict
    identity : str
        Digest that distinguishes this model from others.
    feature_names : list of str
        Empty for arrays.
    n_features : int
    """

    params: Mapping[str, Any]
    model: Model
    mm_columns: list[Hashable]
    mm_evidence: list[dict[str, Any]]
    kept_unjudged: tuple[str, ...]
    found_rules: tuple[FoundRule, ...]
    history: list[dict[str, Any]]
    identity: str
    feature_names: list[str]
    n_features: int


def write_model(
    path: str | os.PathLike[str], saved: Saved, key: Key | None = None, *, row_marks: bool = True
) -> None:
    """Write a fitted imputer to a file.

    Parameters
    ----------
    key : str or bytes, optional
        Signs the file.
    row_marks : bool
        Whether the file says by which marks rows of the table of ``fit`` are known again.
    """
    model = saved.model
    arrays = model.arrays()
    if not row_marks:
        arrays |= {name: array[:0] for name, array in arrays.items() if name == ROW_MARKS}
    facts = {
        "params": plain_params(saved.params),
        "schema": model.space.schema.to_json(),
        "mm": model.space.mm,
        "settings": asdict(model.settings),
        "seed": model.seed,
        "detector": model.detector,
        "mm_columns": saved.mm_columns,
        "mm_evidence": saved.mm_evidence,
        "kept_unjudged": saved.kept_unjudged,
        "found_rules": plain_rules(saved.found_rules),
        "history": saved.history,
        "identity": saved.identity,
        "feature_names": saved.feature_names,
        "n_features": saved.n_features,
    }
    write_bundle(path, "model", arrays, facts, key)


def read_model(path: str | os.PathLike[str], device: str, key: Key | None = None) -> Saved:
    """Read what :func:`write_model` wrote.

    Parameters
    ----------
    device : str
        Where the diffusion model is to run.
    key : str or bytes, optional
        What the file must be signed with.
    """
    arrays, facts = read_bundle(path, "model", key)
    check_stored(path, arrays, facts)
    try:
        return _saved_from(arrays, facts, device)
    except (KeyError, TypeError, IndexError) as error:
        raise laid_out_otherwise(path, error) from error


def _saved_from(arrays: Arrays, facts: dict[str, Any], device: str) -> Saved:
    check_device(device)
    settings = Settings(**facts["settings"])
    schema = Schema.from_json(facts["schema"])
    space = JointSpace.of(schema, facts["mm"], settings)
    return Saved(
        params_from(facts["params"]),
        model_from(arrays, facts["detector"], space, settings, facts["seed"], device),
        [label_from(label) for label in facts["mm_columns"]],
        [{**found, "column": label_from(found["column"])} for found in facts["mm_evidence"]],
        tuple(facts["kept_unjudged"]),
        rules_from(facts["found_rules"], len(schema.modelled)),
        facts["history"],
        facts["identity"],
        facts["feature_names"],
        facts["n_features"],
    )
