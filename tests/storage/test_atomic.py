import json
import stat

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import save_file

from diffjoint import load
from diffjoint.errors import FileError, InputError, ModelFileError
from diffjoint.storage.atomic import check_writable, write_whole
from diffjoint.storage.bundles import read_bundle, write_bundle
from tests.conftest import FEW_CELLS, TINY, TINY_INPAINT, new_imputer, small_survey

pytestmark = FEW_CELLS


def fit_survey():
    kinds = {"smoker": "categorical"}
    imputer = new_imputer(["age", "town"], **TINY, random_state=0, column_kinds=kinds)
    return imputer.fit(small_survey())


@pytest.fixture(scope="module")
def saved_once(tmp_path_factory):
    """An imputer that draws by trees, and its file; no test may change either."""
    imputer, path = fit_survey(), tmp_path_factory.mktemp("saved") / "model.diffjoint"
    imputer.save(path, draws=True)
    return imputer, path.read_bytes()


@pytest.fixture
def saved(saved_once, tmp_path):
    """The same, with a copy of the file for the test alone."""
    imputer, content = saved_once
    path = tmp_path / "model.diffjoint"
    path.write_bytes(content)
    return imputer, path


def test_a_loaded_imputer_gives_the_same_answers(survey, saved):
    imputer, path = saved
    loaded = load(path)
    pd.testing.assert_frame_equal(loaded.transform(survey), imputer.transform(survey))
    pd.testing.assert_frame_equal(loaded.predict_mm_proba(survey), imputer.predict_mm_proba(survey))
    assert loaded.get_params() == imputer.get_params()
    assert loaded.history_ == imputer.history_
    assert loaded.schema_ == imputer.schema_
    assert loaded.mm_columns_ == imputer.mm_columns_
    assert loaded.get_feature_names_out().tolist() == imputer.get_feature_names_out().tolist()
    for first, second in zip(loaded.sample(survey, 2), imputer.sample(survey, 2), strict=True):
        pd.testing.assert_frame_equal(first, second)


def test_a_loaded_imputer_can_be_saved_and_fitted_again(survey, saved, tmp_path):
    loaded = load(saved[1])
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == saved[1].read_bytes()
    pd.testing.assert_frame_equal(loaded.fit_transform(survey), saved[0].transform(survey))


@pytest.fixture
def fitted(survey):
    return new_imputer(["age"], **TINY, random_state=0).fit(survey)


def test_saving_trains_nothing_that_was_not_asked_for(survey, fitted, tmp_path):
    fitted.save(tmp_path / "m")
    assert fitted.history_ == []
    loaded = load(tmp_path / "m")
    assert (loaded.can_sample_, fitted.can_sample_) == (False, True)
    pd.testing.assert_frame_equal(loaded.transform(survey), fitted.transform(survey))
    pd.testing.assert_frame_equal(loaded.explain(survey), fitted.explain(survey))
    assert loaded.report(survey).summary.n_kept == fitted.report().summary.n_kept
    assert len(fitted.sample(survey, 1)) == 1


def test_a_model_without_draws_says_so_before_it_looks_at_a_table(fitted, tmp_path):
    fitted.save(tmp_path / "m")
    loaded = load(tmp_path / "m")
    with pytest.raises(InputError, match="saved without.*draws=True.*fit --draws"):
        loaded.sample("no table")
    with pytest.raises(InputError, match="saved without"):
        loaded.save(tmp_path / "again", draws=True)
    assert not (tmp_path / "again").exists()
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


@pytest.mark.parametrize("by", ["trees", "diffusion"])
@pytest.mark.parametrize("draws", [False, True])
def test_a_model_that_has_drawn_is_saved_with_what_it_learnt(survey, fitted, tmp_path, draws, by):
    before = fitted.sample(survey, 1, draws=by)[0]
    fitted.save(tmp_path / "m", draws=draws)
    loaded = load(tmp_path / "m")
    assert loaded.can_sample_
    pd.testing.assert_frame_equal(loaded.sample(survey, 1, draws=by)[0], before)


def test_a_model_saved_with_one_way_to_draw_says_that_it_has_no_other(survey, fitted, tmp_path):
    fitted.save(tmp_path / "m", draws="diffusion")
    loaded = load(tmp_path / "m")
    assert len(loaded.sample(survey, 1)) == 1
    with pytest.raises(InputError, match="draw by diffusion alone.*draws='trees'"):
        loaded.sample(survey, 1, draws="trees")
    with pytest.raises(InputError, match="draws must be"):
        fitted.sample(survey, 1, draws="forests")


def test_passes_train_what_draws_so_that_it_is_saved(survey, tmp_path):
    fitted = new_imputer(["age"], **TINY_INPAINT, random_state=0).fit(survey)
    fitted.save(tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert loaded.can_sample_
    pd.testing.assert_frame_equal(loaded.sample(survey, 1)[0], fitted.sample(survey, 1)[0])


def test_a_file_that_cannot_be_written_is_found_out_before_training(fitted, tmp_path):
    with pytest.raises(FileError, match="Cannot write"):
        fitted.save(tmp_path / "no" / "folder", draws=True)
    assert fitted.history_ == []


def test_a_saved_model_holds_no_tensor(survey, saved):
    """What was trained is kept as plain arrays, which load and copy without torch."""
    fitted, path = fit_survey(), saved[1]
    fitted.save(path, draws="diffusion")
    for imputer in (fitted, load(path)):
        assert {type(array) for array in imputer._fitted.model.denoiser.values()} == {np.ndarray}


@pytest.mark.filterwarnings("ignore::diffjoint.errors.DataWarning")
def test_imputers_of_arrays_can_be_saved(tmp_path):
    array = np.random.default_rng(0).normal(size=(40, 3))
    array[:9, 1] = np.nan
    imputer = new_imputer([1], **TINY, random_state=0, column_kinds={2: "continuous"})
    imputer.fit(array).save(tmp_path / "m")
    np.testing.assert_array_equal(load(tmp_path / "m").transform(array), imputer.transform(array))


def test_the_file_holds_no_training_rows(survey, saved):
    """Neither who was in the table, nor any column's cells in the rows' order."""
    content = saved[1].read_bytes()
    assert not any(person.encode() in content for person in survey["person"])
    arrays, _ = read_bundle(saved[1], "model")
    typical = arrays["belief.typical"]
    np.testing.assert_array_equal(np.sort(typical, axis=0), typical)
    assert not any(len(array) == len(survey) for name, array in arrays.items() if array.ndim == 2)


def test_a_cut_off_file_says_so(saved):
    path = saved[1]
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(ModelFileError, match="not a whole diffjoint model file.*Save it again"):
        load(path)


@pytest.mark.parametrize("where", [-3, 400])
def test_an_altered_file_says_so(saved, where):
    path = saved[1]
    content = bytearray(path.read_bytes())
    content[where] = content[where] ^ 1
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="altered|not a whole"):
        load(path)


def test_a_newer_file_says_which_version_it_is(saved):
    path = saved[1]
    old, new = (f'\\"format_version\\": {version}'.encode() for version in (1, 7))
    assert old in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(old, new))
    with pytest.raises(
        ModelFileError, match="has format version 7; this diffjoint reads version 1"
    ):
        load(path)


def test_a_file_of_an_older_layout_is_refused_in_words(saved, tmp_path):
    arrays, facts = read_bundle(saved[1], "model")
    for lost in ("mm_evidence", "settings"):
        older = {name: fact for name, fact in facts.items() if name != lost}
        write_bundle(tmp_path / "older", "model", arrays, older)
        with pytest.raises(ModelFileError, match="laid out in another way .*fit and save again"):
            load(tmp_path / "older")
    few = {name: array for name, array in arrays.items() if not name.startswith("belief.")}
    write_bundle(tmp_path / "older", "model", {**few, "belief.x": np.zeros(1)}, facts)
    with pytest.raises(ModelFileError, match="laid out in another way"):
        load(tmp_path / "older")


def test_other_files_are_refused(tmp_path):
    with pytest.raises(FileError, match="there is no such file"):
        load(tmp_path / "nothing")
    (tmp_path / "text").write_text("hello")
    with pytest.raises(ModelFileError, match="not a whole diffjoint model file"):
        load(tmp_path / "text")
    save_file({"a": np.zeros(3)}, tmp_path / "foreign")
    with pytest.raises(ModelFileError, match="not one of diffjoint's"):
        load(tmp_path / "foreign")
    write_bundle(tmp_path / "checkpoint", "checkpoint", {"a": np.zeros(3)}, {})
    with pytest.raises(ModelFileError, match="must be a model file; it is a checkpoint file"):
        load(tmp_path / "checkpoint")


def test_arrays_of_every_shape_survive(tmp_path):
    arrays = {
        "empty": np.zeros((0, 2)),
        "flags": np.array([[True, False]]),
        "nan": np.array([np.nan, 1.0]),
        "turned": np.arange(6.0).reshape(2, 3).T,
    }
    write_bundle(tmp_path / "b", "model", arrays, {"note": "ü", "list": [1, None]})
    back, facts = read_bundle(tmp_path / "b", "model")
    for name, array in arrays.items():
        np.testing.assert_array_equal(back[name], array)
    assert facts == {"note": "ü", "list": [1, None]}


def test_an_interrupted_write_leaves_the_old_file_whole(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("old")

    def write(file):
        file.write(b"ne")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(path, write)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_has_ordinary_permissions(tmp_path):
    write_whole(tmp_path / "f", lambda file: file.write(b"x"))
    (tmp_path / "g").write_text("x")
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in "fg"]
    assert modes[0] == modes[1]


def test_a_link_is_written_through(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_whole(tmp_path / "link", lambda file: file.write(b"new"))
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_an_unwritable_place_says_what_to_do(tmp_path):
    words = "No such file or directory. Choose a path in a folder that exists"
    with pytest.raises(FileError, match=words):
        check_writable(tmp_path / "no" / "where.csv")
    with pytest.raises(FileError, match=words):
        write_whole(tmp_path / "no" / "where.csv", lambda file: None)
    with pytest.raises(FileError, match="it is a directory"):
        check_writable(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_facts_are_json_not_pickle(saved):
    header_length = int.from_bytes(saved[1].read_bytes()[:8], "little")
    header = json.loads(saved[1].read_bytes()[8 : 8 + header_length])
    facts = json.loads(header["__metadata__"]["diffjoint"])["facts"]
    assert facts["mm_columns"] == ["age", "town"]


def test_rows_that_repeat_others_are_judged_as_before_saving(tmp_path):
    """Repeats are told apart by their order in the table, which fit must not change."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 2, (400, 4)), columns=list("abcd")).astype(float)
    table["d"] = table["d"].where(table["a"] == 1)
    table = table.mask(rng.random(table.shape) < 0.15)
    imputer = new_imputer(["d"], **TINY, random_state=0).fit(table)
    path = tmp_path / "repeats.diffjoint"
    imputer.save(path)
    pd.testing.assert_frame_equal(
        load(path).predict_mm_proba(table), imputer.predict_mm_proba(table)
    )


def test_an_error_of_what_is_written_stays_its_own(tmp_path):
    def fail(file):
        raise FileError("It has another reason.")

    with pytest.raises(FileError) as told:
        write_whole(tmp_path / "a", fail)
    assert str(told.value) == "It has another reason."
    assert not list(tmp_path.iterdir())
