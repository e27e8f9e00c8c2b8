"""Programs of scripts that processors share end as those do that are stored whole."""

from io import BytesIO
from math import prod

import networkx as nx
import numpy as np
import pytest
from mpi.machine.ranks import transport
from mpi.machine.test_timed_checkpoints import relayed
from mpi.machine.timedruns import costs_of, referred

import mpinet
from mpinet.machine import placement
from mpinet.machine.machine import Machine
from mpinet.machine.timed import run as runs
from mpinet.machine.timed.layout import RECV, SEND
from mpinet.machine.timed.results import result_of
from mpinet.machine.timed.run import TimedRun
from mpinet.programs.messages.regular import ScriptLine, dissemination, halo, scripted, shift
from mpinet.programs.messages.writing import write_goal

BUSY = {"o": 40, "g": 200, "O": 1, "G": 4, "S": None, "hop": [7, 90], "byte": [3, 9]}
PATIENT = BUSY | {"S": 1, "G": 0}  # senders wait for receivers

CASES = (
    (halo([3, 4], 64, 5, 333), "torus:3x4", "cut", BUSY),
    (halo([3, 4], 64, 4), "torus:3x3,hosts=2", "store", BUSY),
    (halo([2, 3, 2], 7, 3, 10), "torus:2x3x2", "ideal", PATIENT),
    (halo([12], 900, 9, 1), "mesh:3x4", "cut", PATIENT),
    (shift(12, 64, 9), "torus:3x4", "cut", BUSY),
    (shift(7, 64, 5), None, "cut", PATIENT),
    (dissemination(12, 64), "torus:3x4", "cut", BUSY),
    (dissemination(11, 900), None, "cut", PATIENT),
)


def text_of(program):
    """The program as GOAL."""
    text = BytesIO()
    write_goal(program, text)
    return text.getvalue().decode()


def ran(program, mapping, on, mode, costs):
    """A run of a program, over."""
    topology = mpinet.open(on or f"complete:{program.processors}")
    hosting = placement.scattered(topology, 7) if mapping else None
    routing = topology.routing() if on else None
    machine = Machine(topology, "all", transport(), hosting)
    setting = costs | {"mode": mode, "on": on, "flat": 300}
    return TimedRun(machine, program, costs_of(setting), routing).run()


@pytest.mark.parametrize(("program", "on", "mode", "costs"), CASES)
def test_scripts_take_the_time_of_the_reference_and_of_the_stored_program(program, on, mode, costs):
    stored = program.stored()
    known = referred(text_of(stored), on=on, mode=mode, flat=300, **costs)
    for mapping in (False, True):
        found = result_of(ran(program, mapping, on, mode, costs))
        assert found == result_of(ran(stored, mapping, on, mode, costs))
        assert {name: found.get(name) for name in known} == known


def test_neighbours_of_a_halo_exchange_are_those_of_a_torus():
    sides = (3, 4, 5)
    grid = nx.grid_graph(sides[::-1], periodic=True)  # networkx has the last side first
    whole = halo(sides, 10, 2).stored()
    for kind in (SEND, RECV):
        rows = np.flatnonzero(whole.kind == kind)
        pairs = list(zip(whole.owners[rows].tolist(), whole.peer[rows].tolist(), strict=True))
        named = [tuple(np.unravel_index(pair, sides)) for pair in pairs]
        wanted = 2 * [(tuple(one), tuple(other)) for one, other in grid.to_directed().edges]
        found = [tuple(zip(*map(np.ravel, name), strict=True)) for name in named]
        assert sorted(found) == sorted(wanted)


def test_operations_take_the_rows_of_those_that_are_over():
    program = halo([4, 4], 64, 10, 5)
    part = program.hosted(np.arange(16))
    assert part.operations == 16 * 90 and part.rows.sum() == 16 * 9
    # What nobody waits for may last for ever; then every operation keeps its row.
    assert dissemination(16, 8).span == 8
    starts = scripted([3], [ScriptLine(SEND, 8, (), 1, 1), ScriptLine(RECV, 8, [0], -1, 1)], "pair")
    assert starts.span == 2


def test_stuck_scripts_are_explained_as_the_stored_program_is():
    lines = [ScriptLine(kind, 8, [], off, 1) for kind, off in ((SEND, 1), (RECV, -1))]
    lines += [
        ScriptLine(RECV, 8, [0, 1], 1, 1),
        ScriptLine(SEND, 8, [2], 1, 1),
        ScriptLine(RECV, 8, [3], 2, 1),
    ]
    program = scripted([9], lines, "waits")
    found, known = (
        result_of(ran(each, True, "ring:9", "cut", BUSY)) for each in (program, program.stored())
    )
    assert found == known and found["stuck"] == 27
    assert found["stuck_operations"][0]["waits_for"] == "a message from processor 1 with tag 0"
    early = shift(6, 8, 5)
    run = ran(early, False, "ring:6", "cut", BUSY)
    for slot in range(len(run.slots)):
        assert (run.missing(slot) < 0).all()


def test_a_run_of_scripts_that_is_cut_often_ends_as_the_reference_does(monkeypatch):
    monkeypatch.setattr(runs, "AT_ONCE", 1)
    program, on, mode, costs = CASES[2]
    setting = {"on": on, "mode": mode, "flat": 300, **costs}
    known = referred(text_of(program.stored()), **setting)
    (found, _), cuts = relayed(program, False, setting, 5 if transport().size == 1 else 9)
    assert cuts >= 1
    assert {name: found.get(name) for name in known} == known


def test_a_program_by_name_gives_what_the_builder_and_a_file_give(tmp_path):
    name, on = "exchange:halo,64B,sides=3x4,rounds=3,calc=20", "torus:3x4"
    whole = halo([3, 4], 64, 3, 20).stored()
    assert prod((3, 4)) == whole.processors
    costs = {"on": on, "overhead": 40, "gap": 9, "latency": 50, "time_byte": 2}
    told = mpinet.replay(name, **costs)
    assert told.ends == mpinet.replay(whole, **costs).ends
    assert told.busiest_links == mpinet.replay(whole, **costs).busiest_links
    why = mpinet.replay(name, why=True, **costs)
    assert why.time == told.time == sum(why.path_shares.values())
