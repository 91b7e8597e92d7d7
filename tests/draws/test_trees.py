"""Draws by trees, of whole tables."""

import numpy as np
import pandas as pd
import pytest

from diffjoint import SelectiveImputer, load, pool

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def whole():
    """Three numbers and three categories; one number is the sum of others, a category a range."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 500))
    line = np.where(a + rng.normal(size=500) > 0, "yes", "no")
    plan = np.where(line == "no", "none", np.where(b > 0, "large", "small"))
    group = np.array(["low", "middle", "high"])[np.digitize(a, [-0.5, 0.5])]
    table = pd.DataFrame({"a": a, "b": b, "sum": a + b, "line": line, "plan": plan})
    return table.assign(group=group)


@pytest.fixture(scope="module")
def observed(whole):
    return whole.mask(np.random.default_rng(1).random(whole.shape) < 0.15)


@pytest.fixture(scope="module")
def fitted(observed):
    return SelectiveImputer([], random_state=0).fit(observed)


@pytest.fixture(scope="module")
def drawn(fitted, observed):
    return fitted.sample(observed, 5)


def test_what_follows_from_other_columns_is_drawn_so(drawn):
    """A sum is missed only where it would be beyond all that were observed."""
    for table in drawn:
        off = (table["sum"] - table["a"] - table["b"]).abs()
        assert (off < 1e-9).mean() > 0.98
        low, high = table.groupby("group")["a"].min(), table.groupby("group")["a"].max()
        assert high["low"] < low["middle"]
        assert high["middle"] < low["high"]
        both = table[["line", "plan"]]
        assert ((both["line"] == "no") == (both["plan"] == "none")).all()


def test_observed_cells_come_back_and_rows_keep_their_draws(drawn, fitted, observed):
    for k, table in enumerate(drawn):
        pd.testing.assert_frame_equal(table.where(observed.notna()), observed)
        assert table.notna().all(axis=None)
        turned = fitted.sample(observed.iloc[150:50:-1], 5)[k]
        pd.testing.assert_frame_equal(turned, table.iloc[150:50:-1])


def test_more_draws_leave_the_first_as_they_were(drawn, fitted, observed):
    for one, other in zip(fitted.sample(observed, 7), drawn, strict=False):
        pd.testing.assert_frame_equal(one, other)


def test_a_saved_model_draws_as_before_and_keeps_to_the_same_relations(
    drawn, fitted, observed, tmp_path, monkeypatch
):
    monkeypatch.setattr("diffjoint.fitting.fitted.n_sets_at_most", lambda n_rows: len(drawn))
    fitted.save(tmp_path / "model", draws=True)
    for one, other in zip(load(tmp_path / "model").sample(observed, 5), drawn, strict=True):
        pd.testing.assert_frame_equal(one, other)


def test_parts_of_a_sum_that_are_lost_together_vary_between_draws(drawn, observed):
    """Each would otherwise follow from what the other was drawn as before."""
    both = observed["a"].isna() & observed["sum"].isna() & observed["b"].notna()
    spread = np.std([table.loc[both, "sum"] for table in drawn], axis=0)
    assert both.sum() >= 5
    assert (spread > 0.1).all()


def test_intervals_of_a_slope_hold_the_truth():
    covered = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(300, 2))
        table = pd.DataFrame({"x": x[:, 0], "y": x[:, 0] + 0.5 * x[:, 1] + rng.normal(size=300)})
        table["z"] = x[:, 1] + 0.5 * x[:, 0]
        lost = table.mask(rng.random(table.shape) < 0.25)
        tables = SelectiveImputer([], random_state=seed).fit(lost).sample(lost, 5)
        fits = []
        for drawn in tables:
            design = np.column_stack([np.ones(300), drawn["x"], drawn["z"]])
            inverse = np.linalg.inv(design.T @ design)
            found = inverse @ design.T @ drawn["y"].to_numpy()
            left = drawn["y"].to_numpy() - design @ found
            fits.append((found, np.diag(inverse) * (left @ left) / 297))
        pooled = pool([fit[0] for fit in fits], [fit[1] for fit in fits], dof_complete=297)
        low, high = pooled.interval(0.99)
        covered.append((low < [0, 0.75, 0.5]) & (high > [0, 0.75, 0.5]))
    assert np.mean(covered) > 0.9
