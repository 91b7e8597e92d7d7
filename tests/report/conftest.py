import numpy as np
import pandas as pd

from diffjoint.report import Findings
from diffjoint.table import code_table, infer_schema, open_table


def check_of(columns, searched):
    """A self-check as plain data: every other column is no better than its mean."""
    values = [
        {
            "column": name,
            "kind": "continuous",
            "n_cells": 40,
            "measure": "accuracy" if k % 3 == 2 else "standardised_rmse",
            "score": 0.9 if k % 2 else 0.5,
            "mean_or_mode": 0.9,
            "is_better": k % 2 == 0,
            "n_missing": 30,
        }
        for k, name in enumerate(columns)
    ]
    missing = [
        {
            "column": name,
            "n_cells": 100,
            "said": 0.25,
            "found": 0.3,
            "calibration_error": 0.05,
            "by_chance": 0.02,
            "false_calls": float("nan"),
        }
        for name in searched
    ]
    wrong_calls = [
        {
            "column": name,
            "n_missing": 30,
            "expected_wrong": 0.04,
            "n_shown": 0 if k else 70,
            "false_calls": float("nan") if k else 0.312,
            "n_lost": 10.0,
        }
        for k, name in enumerate(searched)
    ]
    bins = [
        {"column": name, "low": low, "high": low + 0.1, "n_cells": n, "said": low, "found": low}
        for name in searched
        for low, n in ((0.2, 90), (0.7, 10))
    ]
    calls = [
        {"change": change, "column": name, "n_cells": 50, "kept": 0.6, "flipped": share}
        for change, share in (("as now (threshold 0.5)", 0.0), ("loss rate x 0.5", 0.2))
        for name in ("all", *searched)
    ]
    alarm = f"Do not trust the calls of {searched[0]}." if searched else ""
    wrong = ["Of 100 lost cells about 31 would be kept as NA by mistake."] if searched else []
    better = [f"Better in some; not in {name}." for name in columns[:3]]
    return {
        "alarm": alarm,
        "verdicts": [alarm, *wrong, *better] if alarm else better,
        "wrong_calls": wrong_calls,
        "values": values,
        "missing": missing,
        "bins": bins,
        "calls": calls,
        "notes": ["Cells were hidden at random."],
    }


def findings_of(
    table,
    likely=None,
    *,
    threshold=0.5,
    band=(0.2, 0.8),
    settled=(),
    doubts=(),
    kinds=None,
    is_checked=False,
):
    """Findings without a fit: P(meaningful) by searched column, gaps filled with a mean or mode.

    ``settled`` names searched columns whose kept cells something else has settled.
    """
    opened = open_table(table)
    schema = infer_schema(opened, kinds, named=range(opened.n_columns))
    values = code_table(opened, schema, "error")
    is_missing = np.isnan(values)
    names = [column.name for column in schema.modelled]
    probability, judged = np.zeros(values.shape), np.zeros(values.shape, dtype=bool)
    for name, chances in (likely or {}).items():
        j = names.index(name)
        probability[is_missing[:, j], j] = np.broadcast_to(chances, len(values))[is_missing[:, j]]
        judged[:, j] = is_missing[:, j] & (name not in settled)
    called = is_missing & (probability > threshold)
    for j, column in enumerate(schema.modelled):
        usual = 0.0 if column.is_categorical else np.round(column.mean)
        values[is_missing[:, j], j] = usual
    low, high = band or (2.0, 2.0)
    return Findings(
        table=opened,
        schema=schema,
        searched=tuple(names.index(name) for name in likely or {}),
        values=values,
        is_missing=is_missing,
        called=called,
        probability=probability,
        judged=judged,
        review=judged & (probability >= low) & (probability <= high),
        threshold=threshold,
        band=band,
        explainer=None,
        doubts=doubts,
        history=[
            {
                "iteration": 1,
                "loss": 0.5,
                "n_epochs": 3,
                "meaningful_share": 0.4,
                "changed_share": 0.4,
                "value_change": None,
            }
        ],
        settings={"preset": "fast"},
        check=check_of(names, list(likely or {})) if is_checked else None,
    )


def people(n_rows, seed=0):
    """A survey in which the unmarried have no spouse's age, and some cells are lost."""
    rng = np.random.default_rng(seed)
    married = rng.random(n_rows) < 0.6
    table = pd.DataFrame(
        {
            "married": np.where(married, "yes", "no"),
            "age": rng.integers(18, 90, n_rows).astype(float),
            "income": rng.lognormal(8, 1, n_rows),
            "spouse_age": np.where(married, rng.integers(18, 90, n_rows), np.nan),
        }
    )
    lost = rng.random(table.shape) < 0.1
    return table.mask(lost), married, rng
