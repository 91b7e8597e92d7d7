from threading import get_ident
from time import sleep

import pytest
from threadpoolctl import threadpool_limits

from diffjoint.trees import MANY_ROWS, side_by_side


@pytest.mark.parametrize("n_rows", [10, MANY_ROWS])
def test_side_by_side_keeps_the_order(n_rows):
    waits = {0: 0.05, 1: 0.0, 2: 0.01}

    def slowly(item):
        sleep(waits[item])
        return item

    with threadpool_limits(3, "openmp"):
        assert list(side_by_side(slowly, waits, n_rows)) == [0, 1, 2]


def test_side_by_side_takes_as_many_threads_as_it_may():
    def worker(item):
        nested = side_by_side(lambda inner: get_ident(), range(2), MANY_ROWS)
        return get_ident(), *nested

    with threadpool_limits(2, "openmp"):
        many = list(side_by_side(worker, range(4), MANY_ROWS))
    assert get_ident() not in {threads[0] for threads in many}
    assert all(len(set(threads)) == 1 for threads in many)
    with threadpool_limits(1, "openmp"):
        assert list(side_by_side(worker, range(2), MANY_ROWS)) == [(get_ident(),) * 3] * 2


def test_side_by_side_says_what_went_wrong():
    def fail(item):
        raise ValueError("no such leaf")

    with threadpool_limits(2, "openmp"), pytest.raises(ValueError, match="no such leaf"):
        list(side_by_side(fail, range(2), MANY_ROWS))
