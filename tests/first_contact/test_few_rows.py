"""A table of sixty animals: too small to judge what it misses."""

import numpy as np
import pandas as pd
import pytest

from tests.first_contact.command_line import run


def animals(n=62):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(n, 4)), columns=["brain", "body", "dream", "span"])
    return table.assign(danger=rng.integers(1, 6, n))


@pytest.mark.parametrize(
    ("n_missing", "words"),
    [
        ({"dream": 12, "span": 4}, "Candidates: none, as there are too few missing or observed"),
        ({"dream": 25, "span": 4}, "could be judged. There is too little to tell of span."),
        ({"dream": 25, "span": 25}, "Candidates: none: losses explain every missing cell."),
    ],
)
def test_nothing_is_said_of_losses_where_nothing_could_be_judged(
    n_missing, words, tmp_path, capsys
):
    table, rng = animals(), np.random.default_rng(1)
    for name, n in n_missing.items():
        table.loc[rng.choice(len(table), n, replace=False), name] = None
    path = tmp_path / "animals.csv"
    table.to_csv(path, index=False)
    assert run("inspect", path) == 0
    shown = capsys.readouterr().out
    assert words in " ".join(shown.split())
    assert ("--mm-columns=" in shown) == (min(n_missing.values()) > 20)
