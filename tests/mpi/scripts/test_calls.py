"""Calls of scripts: they are written out from methods, and only a processor itself makes them."""

from collections import defaultdict
from inspect import signature
from itertools import chain
from types import FunctionType

import numpy as np
import pytest
from mpi.machine.ranks import everyone
from mpi.scripts.playing import PRELUDE, played

from mpinet.mpi.module import CLASSES
from mpinet.mpi.real import REAL


def calls():
    """All calls by name; class methods are calls, too."""
    bases = {base for cls in CLASSES.values() for base in cls.__mro__}
    for member in chain.from_iterable(vars(base).values() for base in bases):
        function = getattr(member, "__func__", member)
        if hasattr(function, "__wrapped__") and hasattr(function, "__code__"):
            yield function.__qualname__, function


def test_calls_take_what_their_methods_take():
    written = dict(calls())
    assert len(written) > 150
    for name, called in written.items():
        written_out = FunctionType(called.__code__, {}, name, called.__defaults__)
        own = signature(written_out).parameters
        method = signature(called.__wrapped__).parameters
        told = [(one.name, one.kind, one.default) for one in own.values()]
        assert told == [(one.name, one.kind, one.default) for one in method.values()], name
        code = called.__code__
        used = {*code.co_varnames[len(own) :], *code.co_names}
        assert not used & set(own), f"{name} has a parameter of a name that every call uses"


def test_collectives_that_are_begun_or_prepared_take_what_the_blocking_ones_take():
    comm, names = CLASSES["Distgraphcomm"], dir(REAL.Distgraphcomm)
    names = [name for name in names if {f"I{name.lower()}", f"{name}_init"} <= {*names}]
    names = [name for name in names if not name.lower().endswith(("send", "recv"))]
    assert len(names) == 17 + 5
    for name in names:
        called, begun, prepared = (
            signature(getattr(comm, each)) for each in (name, f"I{name.lower()}", f"{name}_init")
        )
        taken = list(called.parameters.items())
        assert list(begun.parameters.items()) == taken
        *same, (more, info) = prepared.parameters.items()
        assert (same, more, info.default) == (taken, "info", REAL.INFO_NULL)
        given = called.return_annotation, begun.return_annotation, prepared.return_annotation
        assert given == ("None", "Request", "Prequest")
        for each in (name, f"I{name.lower()}", f"{name}_init"):
            assert getattr(comm, each).__doc__ == getattr(REAL.Distgraphcomm, each).__doc__


def test_a_collective_that_is_prepared_is_booked_as_a_call(tmp_path):
    script = """
        ring = comm.Create_cart([size], [True])
        own, found = np.zeros(1), np.zeros(2)
        ring.Neighbor_allgather_init(own, found), ring.Bcast_init(own)
    """
    _, outcome = played(tmp_path, "ring:3", script)
    kinds = {one.kind: (one.calls, one.messages) for one in outcome.kinds}
    assert kinds["Neighbor_allgather_init"] == kinds["Bcast_init"] == (3, 0)


@pytest.mark.parametrize("wait", ["irecv(source=0).wait()", "recv(source=0)", "barrier()"])
def test_a_call_from_another_greenlet_of_a_script_is_an_error(tmp_path, wait):
    script = f"""
        from greenlet import greenlet

        def work():
            try:
                comm.{wait}
            except RuntimeError as error:
                return str(error)

        if rank == 1:
            say(greenlet(work).switch())
        comm.barrier()
    """
    said, _ = played(tmp_path, "ring:3", script)
    kind = wait.partition("(")[0]
    assert said == {0: [], 1: [f"{kind} is called from a greenlet created by the script."], 2: []}


def test_calls_of_codes_that_are_alike_are_told_apart(tmp_path):
    """Two functions call by the same instruction, and one instruction makes calls of two kinds."""
    script = """
        def one(to): comm.send(1, to)
        def other(to): comm.send(2, to)
        def either(call): call(None, rank)

        for k in range(3):
            one(rank)
            other((rank + 1) % size)
            other((rank + 1) % size)
            either(comm.send)
            either(comm.recv)
        say([comm.recv() for _ in range(9)].count(2))
    """
    said, outcome = played(tmp_path, "ring:5", script)
    assert said == {number: [6] for number in range(5)}
    counted = defaultdict(lambda: np.zeros(2, int))
    for one in everyone(outcome.accounts)[0]:  # ranks have folders of their own
        counted[one.kind, one.line] += one.calls, one.messages
    first = len(PRELUDE.splitlines()) + 2
    assert {key: tuple(both) for key, both in counted.items()} == {
        ("send", first): (15, 0),
        ("send", first + 1): (30, 30),
        ("send", first + 2): (15, 0),
        ("recv", first + 2): (15, 0),
        ("recv", first + 10): (45, 0),
    }


@pytest.mark.parametrize("mapping", ["blocks", "random"])
def test_time_passes_for_a_processor_that_waits_for_it_while_nothing_is_under_way(
    tmp_path, mapping
):
    script = """
        if rank == 4:
            begin = MPI.Wtime()
            while MPI.Wtime() - begin < 70.5e-6:
                pass
            comm.send("late", dest=0)
        if rank == 2:
            request = comm.irecv(source=5)
            begin = MPI.Wtime()
            while not request.test()[0] and MPI.Wtime() < begin + 40e-6:
                pass
            request.cancel()
        if rank == 0:
            comm.recv(source=4)
        say(round(MPI.Wtime() * 1e6))
    """
    said, outcome = played(tmp_path, "complete:6", script, mapping=mapping)
    (asked_for_both,) = said.pop(2)
    assert 40 <= asked_for_both < 45
    # The first thousand readings take a microsecond in all, and 70 steps the rest.
    assert said == {0: [71], 1: [0], 3: [0], 4: [72], 5: [0]}
    assert outcome.steps == 71


def test_a_second_passes_within_some_thousand_rounds(tmp_path):
    script = """
        begin, questions = MPI.Wtime(), 0
        while MPI.Wtime() - begin < 1:
            questions += 1
        say((0.999 < MPI.Wtime() - begin < 1.01, questions < 20_000))
    """
    said, _ = played(tmp_path, "ring:3", script)
    assert said == {rank: [(True, True)] for rank in range(3)}


@pytest.mark.parametrize(("ports", "steps"), [("one", 4), ("all", 1)])
def test_a_sender_sees_the_time_pass_in_which_its_port_is_busy(tmp_path, ports, steps):
    script = """
        if rank == 1:
            for turn in range(2):
                begin = MPI.Wtime()
                for other in (0, 2, 3, 4):
                    comm.send(rank, dest=other)
                say(round((MPI.Wtime() - begin) * 1e6))
        else:
            comm.recv(source=1), comm.recv(source=1)
    """
    said, outcome = played(tmp_path, "complete:5", script, ports)
    assert said == {0: [], 1: [steps, steps], 2: [], 3: [], 4: []}
    assert outcome.steps == 2 * steps
    assert everyone([one.kind for one in outcome.kinds])[0] == ["send", "recv"]


def test_computing_takes_no_time_but_a_reading_takes_a_nanosecond(tmp_path):
    script = """
        comm.barrier()
        begin = MPI.Wtime()
        sum(range(10_000))
        say(round((MPI.Wtime() - begin) * 1e12))
    """
    said, _ = played(tmp_path, "ring:4", script)
    assert said == {rank: [1000] for rank in range(4)}
