"""Running a program on every processor of a machine."""

from __future__ import annotations

import gc
import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from mpinet.errors import UsageError
from mpinet.machine import Machine, Outcome, Spent
from mpinet.process.outcome import digest
from mpinet.process.scheduler import Program, Scheduler
from mpinet.process.telling import agreed
from mpinet.process.values import from_bytes, to_bytes, unpack

SELDOM = (200_000, 50, 50)
"""Thresholds of Python's garbage collection during a run; its usual ones cost a third of the time
where millions of objects are alive."""

NAMED = 10
"""Most processors with unreceived messages that an outcome names."""


def run(
    machine: Machine,
    program: Program,
    arguments: Sequence[Any] = (),
    named: Mapping[str, Any] | None = None,
    seed: int = 0,
    routing: str | None = None,
) -> Outcome:
    """Run a program on every processor of a machine (collective).

    Parameters
    ----------
    machine : Machine
        The machine.
    program : callable
        ``program(node, *arguments, **named)``: a generator function; see `mpinet.process.Node`.
    arguments : sequence, optional
        What every processor's program gets after its node.
    named : mapping, optional
        The same by name.
    seed : int
        For the processors' random numbers.
    routing : str, optional
        The routing that brings messages of `Node.route` to their targets.

    Raises
    ------
    UsageError
        This is no program, or it does not take these arguments.
    ModelViolation
        A processor breaks the port model; names it, the step, the file and the line.
    ProgramError
        A processor's program raises an error or yields what is no action; has its traceback.
    Deadlock
        Processors wait for messages and nobody will send one; names a cycle of them.

    Examples
    --------
    >>> def shift(node):
    ...     yield node.send(0, node.id)
    ...     return (yield node.receive(1))
    >>> done = Machine("ring:4").run(shift)
    >>> done.values, done.steps, done.messages
    ([3, 0, 1, 2], 1, 4)
    """
    # Before a million processors start: each of them would fail with the same error.
    _require_fitting(program, arguments, named or {})
    with rare_collections(), machine.counted_anew(), machine.spending() as spent:
        scheduler = Scheduler(machine, program, arguments, named or {}, seed, routing)
        scheduler.run()
    return _outcome(scheduler, spent)


Machine.runner = run  # `Machine.run` stands below this room, and cannot import it


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collect cyclic garbage seldom in this context: a million waiting programs are no garbage."""
    usual = gc.get_threshold()
    gc.set_threshold(*(most if often else 0 for often, most in zip(usual, SELDOM, strict=True)))
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def _require_fitting(program: Program, arguments: Sequence[Any], named: Mapping[str, Any]) -> None:
    """Raise `UsageError` unless this is a function that takes a node and these arguments."""
    if not callable(program):
        raise UsageError(f"A program is a function of a node, not {program!r}.")
    try:
        inspect.signature(program).bind(None, *arguments, **named)
    except TypeError as error:
        name = getattr(program, "__name__", repr(program))
        raise UsageError(f"The program {name} does not fit its arguments: {error}.") from None


def _outcome(scheduler: Scheduler, spent: Spent) -> Outcome:
    """Gather the results of the processors (collective)."""
    machine = scheduler.machine
    (unreceived,) = machine.sum(int(scheduler.unreceived.sum()))
    left = np.flatnonzero(scheduler.unreceived)
    left = left[np.argsort(machine.nodes[left])[:NAMED]]
    left_at = zip(machine.nodes[left].tolist(), scheduler.unreceived[left].tolist(), strict=True)
    gathered = machine.transport.gather(
        to_bytes((list(left_at), machine.nodes.tolist(), scheduler.values))
    )
    places: list[tuple[int, int]] = []
    values: list[Any] = [None] * machine.topology.hosts * bool(gathered)
    for text in gathered:
        some_places, nodes, returned = from_bytes(text)
        places += some_places
        for node, value in zip(nodes, returned, strict=True):
            if node < machine.topology.hosts:
                values[node] = unpack(value)
    places = sorted(places)[:NAMED]
    proof = machine.checked(
        lambda: digest(spent.steps, spent.messages, unreceived, places, values) if gathered else ""
    )
    proof, found = agreed(machine.transport, (proof, places))
    places = [(node, count) for node, count in found]
    hosts = machine.topology.hosts
    return Outcome(hosts, spent.steps, spent.messages, unreceived, places, values, proof)
