"""Signed models, and models that do not say which rows they learnt from."""

import numpy as np
import pandas as pd
import pytest

from diffjoint import load
from diffjoint.cli import main
from diffjoint.errors import InputError, ModelFileError
from diffjoint.storage.bundles import read_bundle, write_bundle
from tests.cli.test_cli import SETTINGS
from tests.conftest import FEW_CELLS, TINY, new_imputer

pytestmark = FEW_CELLS
KEY, OTHER = "a key that nobody guesses", b"another key of somebody else"


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=90), "b": rng.choice(["x", "y"], 90)})
    return frame.assign(c=rng.normal(size=90)).mask(rng.random((90, 3)) < 0.2)


@pytest.fixture(scope="module")
def fitted(table):
    return new_imputer(["a"], **TINY, random_state=0).fit(table)


def test_a_signed_model_is_read_with_its_key_and_without(table, fitted, tmp_path):
    fitted.save(tmp_path / "m", key=KEY)
    for key in (KEY, KEY.encode(), None):
        pd.testing.assert_frame_equal(
            load(tmp_path / "m", key=key).transform(table), fitted.transform(table)
        )


def test_a_model_without_the_key_is_refused(fitted, tmp_path):
    fitted.save(tmp_path / "m", key=KEY)
    with pytest.raises(ModelFileError, match="signed with another one, or altered"):
        load(tmp_path / "m", key=OTHER)
    fitted.save(tmp_path / "m")
    with pytest.raises(ModelFileError, match="must be signed, as a key is given; it is not"):
        load(tmp_path / "m", key=KEY)


def test_who_renews_the_digest_cannot_renew_the_signature(fitted, tmp_path):
    """The signature is of another content, whether it is copied or made with another key."""
    fitted.save(tmp_path / "m", key=KEY)
    arrays, facts = read_bundle(tmp_path / "m", "model")
    facts["seed"] += 1
    write_bundle(tmp_path / "m", "model", arrays, facts, OTHER)
    load(tmp_path / "m")
    with pytest.raises(ModelFileError, match="signed with another"):
        load(tmp_path / "m", key=KEY)
    write_bundle(tmp_path / "m", "model", arrays, facts)
    with pytest.raises(ModelFileError, match="must be signed"):
        read_bundle(tmp_path / "m", "model", KEY)


def test_a_copied_signature_is_refused(fitted, tmp_path):
    fitted.save(tmp_path / "signed", key=KEY)
    content = (tmp_path / "signed").read_bytes()
    arrays, facts = read_bundle(tmp_path / "signed", "model")
    facts["seed"] = (facts["seed"] + 1) % 9
    write_bundle(tmp_path / "altered", "model", arrays, facts, OTHER)

    def signature(text):
        return text.partition(b'\\"signature\\": \\"')[2][:64]

    altered = (tmp_path / "altered").read_bytes()
    assert len({signature(content), signature(altered)}) == 2
    (tmp_path / "altered").write_bytes(altered.replace(signature(altered), signature(content)))
    load(tmp_path / "altered")
    with pytest.raises(ModelFileError, match="signed with another"):
        load(tmp_path / "altered", key=KEY)


@pytest.mark.parametrize("key", ["short", b"", 3, ["k" * 20]])
def test_keys_that_can_be_guessed_are_refused(fitted, tmp_path, key):
    with pytest.raises(InputError, match="at least 16 characters"):
        fitted.save(tmp_path / "m", key=key)
    with pytest.raises(InputError, match="at least 16 characters"):
        load(tmp_path / "m", key=key)
    assert not (tmp_path / "m").exists()


def test_a_model_without_row_marks_cannot_be_asked_for_rows(table, fitted, tmp_path):
    fitted.save(tmp_path / "marked")
    fitted.save(tmp_path / "m", row_marks=False)
    assert len(read_bundle(tmp_path / "marked", "model")[0]["belief.seen"]) > 0
    assert len(read_bundle(tmp_path / "m", "model")[0]["belief.seen"]) == 0
    new = table.sample(30, random_state=1).assign(c=0.125)
    marked, unmarked = load(tmp_path / "marked"), load(tmp_path / "m")
    pd.testing.assert_frame_equal(unmarked.transform(new), marked.transform(new))
    pd.testing.assert_frame_equal(unmarked.predict_mm_proba(new), marked.predict_mm_proba(new))
    unmarked.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


@pytest.fixture
def folder(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table.to_csv("in.csv", index=False)
    (tmp_path / "key").write_text(f"{KEY}\n")
    (tmp_path / "other").write_bytes(OTHER)
    (tmp_path / "short").write_text("k")
    return tmp_path


def run(*arguments):
    with pytest.raises(SystemExit) as end:
        main([*arguments, "-q"])
    return end.value.code


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_command_line_signs_and_checks(folder, capsys):
    options = ["-m", "a", *SETTINGS, "--key-file", "key", "--no-row-marks"]
    assert run("fit", "in.csv", "m", *options) == 0
    assert run("impute", "in.csv", "o.csv", "--model-out", "m2", *options) == 0
    for model in ("m", "m2"):
        assert len(read_bundle(model, "model", KEY)[0]["belief.seen"]) == 0
        assert run("transform", model, "in.csv", "out.csv", "--key-file", "key") == 0
        (folder / "out.csv").unlink()
        assert run("transform", model, "in.csv", "out.csv", "--key-file", "other") == 1
        assert "signed with another" in capsys.readouterr().err
    assert run("transform", "m", "in.csv", "out.csv", "--key-file", "short") == 2
    assert run("fit", "in.csv", "m", "-m", "a", "--key-file", "nothing") == 1
    assert "Name the file of the key" in capsys.readouterr().err
    assert not (folder / "out.csv").exists()
