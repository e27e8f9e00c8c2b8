"""Runs of a program on every processor of a machine."""

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
"""Thresholds of Python's garbage collection during a run. The default thresholds cost a third of
the run time if millions of objects are alive.
"""

NAMED = 10
"""Largest number of processors with unreceived messages listed in a result."""


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
        Positional arguments of every processor's program, after the node.
    named : mapping, optional
        Keyword arguments of every processor's program.
    seed : int
        Seed of the processors' random numbers.
    routing : str, optional
        Routing of the messages sent with `Node.route`.

    Raises
    ------
    UsageError
        The program is not a function, or does not accept these arguments.
    ModelViolation
        A processor violates the port model. The error names the processor, step, file and line.
    ProgramError
        A program raises an error, or yields an object that is not an action. The error has the
        program's traceback.
    Deadlock
        Processors wait for messages that no processor will send. The error names a cycle of them.

    Examples
    --------
    >>> def shift(node):
    ...     yield node.send(0, node.id)
    ...     return (yield node.receive(1))
    >>> done = Machine("ring:4").run(shift)
    >>> done.values, done.steps, done.messages
    ([3, 0, 1, 2], 1, 4)
    """
    # Checked before a million processors start, because each of them would fail with the same
    # error.
    _require_fitting(program, arguments, named or {})
    with rare_collections(), machine.counted_anew(), machine.spending() as spent:
        scheduler = Scheduler(machine, program, arguments, named or {}, seed, routing)
        scheduler.run()
    return _outcome(scheduler, spent)


Machine.runner = run  # `Machine` is in a lower layer and cannot import this module


@contextmanager
def rare_collections() -> Iterator[None]:
    """Run garbage collection rarely in this context: waiting programs are no garbage."""
    usual = gc.get_threshold()
    gc.set_threshold(*(most if often else 0 for often, most in zip(usual, SELDOM, strict=True)))
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def _require_fitting(program: Program, arguments: Sequence[Any], named: Mapping[str, Any]) -> None:
    """Raise `UsageError` unless the program is a function of a node and these arguments."""
    if not callable(program):
        raise UsageError(f"A program is a function of a node, not {program!r}.")
    try:
        inspect.signature(program).bind(None, *arguments, **named)
    except TypeError as error:
        name = getattr(program, "__name__", repr(program))
        raise UsageError(f"The program {name} does not fit its arguments: {error}.") from None


def _outcome(scheduler: Scheduler, spent: Spent) -> Outcome:
    """Gather the results of all processors (collective)."""
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
