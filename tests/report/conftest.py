import numpy as np
import pandas as pd

from diffjoint.report import Findings
from diffjoint.table import code_table, infer_schema, open_table


def findings_of(
    table, likely=None, *, threshold=0.5, band=(0.2, 0.8), settled=(), doubts=(), kinds=None
):
    """Findings without a fit: P(meaningful) by searched column, gaps filled with a mean or mode.

    ``settled`` names searched columns whose kept cells something else has settled.
    """
    opened = open_table(table)
    schema = infer_schema(opened, kinds)
    values = code_table(opened, schema, "error")
    gaps = np.isnan(values)
    names = [column.name for column in schema.modelled]
    probability, judged = np.zeros(values.shape), np.zeros(values.shape, dtype=bool)
    for name, chances in (likely or {}).items():
        j = names.index(name)
        probability[gaps[:, j], j] = np.broadcast_to(chances, len(values))[gaps[:, j]]
        judged[:, j] = gaps[:, j] & (name not in settled)
    called = gaps & (probability > threshold)
    for j, column in enumerate(schema.modelled):
        usual = 0.0 if column.is_categorical else np.round(column.mean)
        values[gaps[:, j], j] = usual
    low, high = band or (2.0, 2.0)
    return Findings(
        table=opened,
        schema=schema,
        searched=tuple(names.index(name) for name in likely or {}),
        values=values,
        gaps=gaps,
        called=called,
        probability=probability,
        judged=judged,
        review=judged & (probability >= low) & (probability <= high),
        threshold=threshold,
        band=band,
        asked=None,
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
