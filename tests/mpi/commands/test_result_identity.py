"""Results of several ranks are pickled on every rank."""

import pickle

import pytest

import mpinet
from mpinet.machine.transport import world

RUNS = {
    "broadcast": lambda: mpinet.broadcast("ring:8"),
    "route": lambda: mpinet.route("torus:4x4", pairs=[(0, 5), (3, 1)]),
    "load": lambda: mpinet.load("ring:8", rate=[0.1, 0.2], warmup=20, steps=50),
    "optimum": lambda: mpinet.optimum("gossip", "ring:4"),
}


@pytest.mark.mpi
@pytest.mark.parametrize("name", RUNS)
def test_a_result_is_pickled_on_every_rank(name):
    found = RUNS[name]()
    sent = pickle.loads(pickle.dumps(found))
    assert sent == found and sent.document()["ranks"] == world().size
    assert str(sent) == str(found)
