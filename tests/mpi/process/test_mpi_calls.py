"""Calls of scripts: they are written out from methods, and only a processor itself makes them."""

from inspect import signature
from itertools import chain

import pytest
from mpi.process.playing import played

from mpinet.process.mpi.module import CLASSES


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
        own = signature(called, follow_wrapped=False).parameters
        method = signature(called.__wrapped__).parameters
        told = [(one.name, one.kind, one.default) for one in own.values()]
        assert told == [(one.name, one.kind, one.default) for one in method.values()], name
        code = called.__code__
        used = {*code.co_varnames[len(own) :], *code.co_names}
        assert not used & set(own), f"{name} has a parameter of a name that every call uses"


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
    assert said == {0: [], 1: [f"{kind} is called from a thread; a processor has only one."], 2: []}
