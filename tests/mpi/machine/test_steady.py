"""A search for warm-up, window or saturation that is cut goes on to the same results."""

import numpy as np
import pytest
from mpi.machine.ranks import everyone, shared_folder, some_ranks, transport
from mpi.machine.test_open_loop_checkpoints import Cutting

import mpinet
from mpinet.errors import Suspended
from mpinet.experiments.load import TrafficSetting
from mpinet.experiments.steady import Steady
from mpinet.machine.checkpoint import read_manifest
from mpinet.machine.faults import Faults
from mpinet.machine.machine import Machine
from mpinet.machine.traffic import run as runs
from mpinet.machine.traffic.parameters import Buffering, Generation, Window
from mpinet.programs.patterns import pattern_of


def setting():
    topology = mpinet.open("mesh:3x3")
    pattern = pattern_of(topology, "uniform")
    return TrafficSetting(
        topology, topology.routing(), None, pattern, Generation(pattern.rule, pattern.params),
        Buffering(), Window(0, 50, 99), [3], Faults(topology), True, Steady(True, 0.3, 0.4),
    )  # fmt: skip


def leg(folder, again, at, crew, rate):
    """Go on with a search on the first ranks to its machine's step `at`, or to its end."""
    ranks, inside = some_ranks(crew)
    if not inside:
        return None
    kept = read_manifest(folder) if again else None
    ranks.keeper = keeper = Cutting(at, folder, {}, ranks, None, kept)
    try:
        keeper.begin()
        machine = Machine(setting().topology, transport=ranks)
        found = setting().run(machine, 3, rate)
        keeper.finish()
        return found
    except Suspended:
        return None
    finally:
        keeper.release()
        ranks.keeper = None


@pytest.mark.parametrize("rate", [0.2, None])
def test_a_search_that_is_cut_finds_what_one_that_is_not_does(rate, monkeypatch):
    monkeypatch.setattr(runs, "AT_ONCE", 1)
    machine = Machine(setting().topology, transport=transport())
    whole = setting().run(machine, 3, rate)
    size = transport().size
    cuts = np.linspace(7, machine.steps - 9, 3).astype(int)
    with shared_folder() as folder:
        for number, at in enumerate([*cuts.tolist(), -1]):
            crew = (size, 1, min(2, size))[number % 3]
            ends = everyone(leg(folder / "run", number > 0, at, crew, rate))
            found = [each for each in ends if each is not None]
            assert bool(found) == (at == -1)
    assert found[0] == whole
