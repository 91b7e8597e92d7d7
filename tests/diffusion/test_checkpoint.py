import numpy as np
import pandas as pd
import pytest

from diffjoint.diffusion.checkpoint import FILE_NAME
from diffjoint.errors import FileError, InputError, ModelFileError
from tests.conftest import FEW_CELLS, TINY_INPAINT, new_imputer

pytestmark = FEW_CELLS


def imputer(folder, **params):
    settings = {**TINY_INPAINT, "n_iterations": 3, "random_state": 0}
    return new_imputer(["age", "town"], checkpoint=folder, **{**settings, **params})


def interrupt_after(n_passes):
    def callback(fitted):
        if len(fitted.history_) == n_passes:
            raise KeyboardInterrupt

    return callback


@pytest.mark.parametrize("n_passes", [1, 2])
@pytest.mark.parametrize("random_state", [0, None])
def test_an_interrupted_run_goes_on_to_the_same_result(survey, tmp_path, n_passes, random_state):
    np.random.seed(5)  # noqa: NPY002
    straight = imputer(None, random_state=random_state).fit(survey)
    np.random.seed(5)  # noqa: NPY002
    with pytest.raises(KeyboardInterrupt, match="start the same run again to go on"):
        imputer(tmp_path, random_state=random_state, callback=interrupt_after(n_passes)).fit(survey)
    passes = []
    resumed = imputer(
        tmp_path, random_state=random_state, callback=lambda fitted: passes.append(1)
    ).fit(survey)
    assert len(passes) == 3 - n_passes
    pd.testing.assert_frame_equal(resumed.transform(survey), straight.transform(survey))
    assert resumed.history_ == straight.history_


def test_a_warm_start_goes_on_as_well(survey, tmp_path):
    straight = imputer(None, warm_start=True).fit_transform(survey)
    with pytest.raises(KeyboardInterrupt):
        imputer(tmp_path, warm_start=True, callback=interrupt_after(2)).fit(survey)
    pd.testing.assert_frame_equal(
        imputer(tmp_path, warm_start=True).fit_transform(survey), straight
    )


def test_a_finished_run_is_not_run_again(survey, tmp_path):
    first = imputer(tmp_path).fit(survey)
    again = imputer(tmp_path, callback=interrupt_after(3)).fit(survey)
    pd.testing.assert_frame_equal(again.transform(survey), first.transform(survey))


@pytest.mark.parametrize("change", [{"n_draws": 5}, {"random_state": 1}])
def test_another_runs_checkpoint_is_refused(survey, tmp_path, change):
    imputer(tmp_path).fit(survey)
    with pytest.raises(InputError, match="belongs to a run on another table, with other settings"):
        imputer(tmp_path, **change).fit(survey)


def test_another_tables_checkpoint_is_refused(survey, tmp_path):
    imputer(tmp_path).fit(survey)
    with pytest.raises(InputError, match="belongs to a run on another table"):
        imputer(tmp_path).fit(survey.iloc[:50])


def test_a_damaged_checkpoint_says_so(survey, tmp_path):
    imputer(tmp_path).fit(survey)
    path = tmp_path / FILE_NAME
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(ModelFileError, match="not a whole diffjoint checkpoint file"):
        imputer(tmp_path).fit(survey)


def test_a_folder_that_cannot_be_made_is_found_out_first(survey, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="Cannot use .* as checkpoint.*Name a folder"):
        imputer(tmp_path / "file" / "folder").fit(survey)


@pytest.mark.parametrize(
    ("with_folder", "when", "words"),
    [
        (True, 2, "Whole passes are saved in .*; start the same run again to go on"),
        (True, 1, "No pass was complete yet"),
        (False, 1, "Nothing was saved; set checkpoint to a folder"),
    ],
)
def test_ctrl_c_ends_with_a_word_on_how_to_go_on(
    survey, tmp_path, monkeypatch, with_folder, when, words
):
    from diffjoint.diffusion import algorithm1

    calls = []
    train = algorithm1.model_update

    def train_or_stop(*args, **kwargs):
        calls.append(1)
        if len(calls) == when:
            raise KeyboardInterrupt
        return train(*args, **kwargs)

    monkeypatch.setattr(algorithm1, "model_update", train_or_stop)
    with pytest.raises(KeyboardInterrupt, match=words):
        imputer(tmp_path if with_folder else None).fit(survey)
