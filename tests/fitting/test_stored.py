"""Model files come from anyone: an altered one is refused in words, or answers like any other."""

import copy
import json
import os
import random
import signal
import tracemalloc

import numpy as np
import pandas as pd
import pytest

from diffjoint import load
from diffjoint.errors import DiffJointError, ModelFileError
from diffjoint.storage.bundles import read_bundle, write_bundle
from tests.conftest import TINY, TINY_INPAINT, new_imputer
from tests.fuzz.alter import alter

pytestmark = pytest.mark.filterwarnings("ignore")
N_MUTATIONS = int(os.environ.get("EXAMPLES", "300"))
LONGEST, LARGEST = 20, 300_000_000
"""Seconds and bytes that an altered file may take."""


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 120
    frame = pd.DataFrame(
        {
            "age": rng.normal(50, 9, n).round(1),
            "town": rng.choice(["Ulm", "Bonn", "Kiel"], n),
            "job": rng.choice(["a", "b"], n),
            "pay": rng.normal(size=n),
        }
    )
    frame.loc[frame["job"] == "b", "pay"] = np.nan
    return frame.mask(rng.random(frame.shape) < 0.15)


@pytest.fixture(scope="module", params=["values", "trees", "diffusion", "inpaint", "auto"])
def model(request, table, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m"
    params = TINY_INPAINT if request.param == "inpaint" else TINY
    mm_columns = "auto" if request.param == "auto" else ["pay", "town"]
    imputer = new_imputer(mm_columns, **params, random_state=0).fit(table)
    imputer.save(path, draws=request.param if request.param in ("trees", "diffusion") else False)
    return read_bundle(path, "model")


def ask(path, table):
    """Load a file and ask it for all that it can say, within a time and a memory."""

    def too_long(*args):
        raise AssertionError("an altered file took too long")

    old = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(LONGEST)
    tracemalloc.start()
    try:
        imputer = load(path)
        some = table.head(12)
        imputer.transform(some)
        imputer.predict_mm_proba(some)
        imputer.explain(some)
        if imputer.can_sample_:
            imputer.sample(some, 1)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        signal.alarm(0)
        signal.signal(signal.SIGALRM, old)
        assert peak < LARGEST


def test_altered_and_signed_files_do_no_harm(model, table, tmp_path):
    refused = answered = 0
    for seed in range(N_MUTATIONS // 4):
        rng = random.Random(seed)
        arrays, facts = dict(model[0]), copy.deepcopy(model[1])
        for _ in range(rng.choice([1, 1, 2])):
            alter(arrays, facts, rng)
        write_bundle(tmp_path / "m", "model", arrays, facts)
        try:
            ask(tmp_path / "m", table)
            answered += 1
        except ModelFileError:
            refused += 1
        except DiffJointError:  # a setting that the table does not go with, in words
            answered += 1
        except Exception as error:
            raise AssertionError(f"seed {seed} raises {error!r}") from error
    assert refused > answered / 4


def test_cut_off_and_flipped_files_are_refused(model, tmp_path):
    write_bundle(tmp_path / "m", "model", *model)
    content = (tmp_path / "m").read_bytes()
    for seed in range(N_MUTATIONS // 4):
        rng = random.Random(seed)
        altered = bytearray(content)
        if rng.random() < 0.3:
            altered = altered[: rng.randrange(len(altered))]
        else:
            early = rng.random() < 0.5
            place = rng.randrange(200 if early else len(altered))
            altered[place] ^= 1 << rng.randrange(8)
        (tmp_path / "m").write_bytes(altered)
        with pytest.raises(ModelFileError):
            load(tmp_path / "m")


@pytest.fixture
def altered(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("altered") / "m"
    new_imputer(["pay", "town"], **TINY, random_state=0).fit(table).save(path, draws="diffusion")
    arrays, facts = read_bundle(path, "model")

    def made(change):
        change(arrays, facts)
        write_bundle(path, "model", arrays, facts)
        return path

    return made


def set_cell(name, place, value):
    def change(arrays, facts):
        arrays[name] = arrays[name].copy()
        arrays[name][place] = value

    return change


def say(*keys, value):
    def change(arrays, facts):
        for key in keys[:-1]:
            facts = facts[key]
        facts[keys[-1]] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        set_cell("expectation.trees.left", 1, 0),
        set_cell("expectation.trees.right", 0, 0),
        set_cell("belief.trees.left", 2, 1),
        set_cell("belief.trees.inputs", 0, -1),
        set_cell("expectation.trees.inputs", 0, 99),
        set_cell("expectation.trees.feature", 0, -1),
        set_cell("expectation.levels", 0, -1.0),
        set_cell("belief.typical", (0, 1), 77.0),
        set_cell("belief.trees.value", 0, np.nan),
        set_cell("belief.n_trees", 0, 2**60),
        set_cell("denoiser.network.read_out.bias", 0, np.inf),
        say("settings", "width", value=200_000),
        say("settings", "n_steps", value=10**9),
        say("schema", 0, "scale", value=float("nan")),
        say("schema", 1, "levels", value=["Ulm"]),
        say("schema", 1, "levels", value=list(range(100_000))),
        say("mm", value=[-1]),
        say("seed", value=2**70),
    ],
)
def test_what_is_out_of_range_is_refused_in_words(altered, change):
    path = altered(change)
    with pytest.raises(ModelFileError, match="laid out in another way.*fit and save again"):
        load(path)


def test_nested_headers_are_refused(tmp_path):
    from safetensors.numpy import save_file

    for header in ("[" * 100_000, "[]", '{"format_version": 1}', json.dumps({"x": 1})):
        save_file({"a": np.zeros(1)}, tmp_path / "m", metadata={"diffjoint": header})
        with pytest.raises(ModelFileError, match="not a whole diffjoint model file"):
            load(tmp_path / "m")
