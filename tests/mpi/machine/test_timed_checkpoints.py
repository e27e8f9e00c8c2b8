"""A run in time that is cut between two windows goes on, on any ranks, to the same results."""

import numpy as np
import pytest
from mpi.machine.ranks import everyone, shared_folder, some_ranks, transport
from mpi.machine.test_open_loop_checkpoints import Cutting
from mpi.machine.timedruns import BUSSED, costs_of, random_case, referred

import mpinet
from mpinet.errors import Suspended
from mpinet.machine import placement
from mpinet.machine.checkpoint import read_manifest
from mpinet.machine.machine import Machine
from mpinet.machine.timed import run as runs
from mpinet.machine.timed.results import result_of
from mpinet.machine.timed.run import TimedRun
from mpinet.programs.messages.goal import program_of


def leg(folder, again, at, crew, mapping, text, half, setting):
    """Go on with a run up to a step on the first ranks; its result, and its notes.

    Notes are taken of a program that is given as text.
    """
    ranks, inside = some_ranks(crew)
    if not inside:
        return None
    noted = isinstance(text, str)
    program = program_of(text.encode()) if noted else text
    topology = mpinet.open(setting["on"] or f"complete:{max(2, program.processors)}")
    hosting = placement.scattered(topology, 7) if mapping else None
    found = read_manifest(folder) if again else None
    ranks.keeper = keeper = Cutting(at, folder, {}, ranks, None, found)
    try:
        keeper.begin()
        machine = Machine(topology, "all", ranks, hosting)
        routing = topology.routing() if setting["on"] else None
        run = TimedRun(machine, program, costs_of(setting, half), routing, noted).run()
        keeper.finish()
        notes = np.concatenate([np.zeros((0, 8), np.int64), run.notes])
        every = ranks.gather(np.ascontiguousarray(notes).tobytes())
        rows = np.frombuffer(b"".join(every), np.int64).reshape(-1, 8)
        return result_of(run), sorted(map(tuple, rows.tolist()))
    except Suspended:
        return None
    finally:
        keeper.release()
        ranks.keeper = None


def relayed(text, half, setting, steps):
    """The result of a run that goes on with other ranks and another mapping every few steps."""
    size, cuts = transport().size, 0
    crews = [size, 1, min(2, size)]
    with shared_folder() as folder:
        for number in range(200):
            crew, again = crews[number % 3], number > 0
            given = (crew, number % 2, text, half, setting)
            found = leg(folder / "run", again, (number + 1) * steps, *given)
            ends = [each for each in everyone(found) if each is not None]
            if ends:
                return max(ends, key=lambda end: len(end[1])), cuts
            cuts += 1
    raise AssertionError("it does not end")


@pytest.mark.parametrize("number", [1, 2, 5, 8, 12, 14] if transport().size == 1 else [2, 5])
def test_a_run_that_is_cut_often_ends_as_the_reference_does(number, monkeypatch):
    monkeypatch.setattr(runs, "AT_ONCE", 1)
    text, setting = random_case(number)
    if number == 2:
        setting["on"] = setting["on"] or BUSSED[0]
    half = number in (2, 5) and setting["on"] is not None and mpinet.open(setting["on"]).links
    known = referred(text, half, **setting)
    (found, notes), cuts = relayed(text, half, setting, 1 if transport().size == 1 else 9)
    assert cuts >= 1
    assert {name: found.get(name) for name in known} == known
    (whole, same), _ = relayed(text, half, setting, 10**6)
    assert whole == found and same == notes
