import pytest

from diffjoint.simulate import bayesian_network


@pytest.fixture(scope="package")
def network():
    return bayesian_network(10_000, 6_000, loss_rate=0.2, seed=3)
