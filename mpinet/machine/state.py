"""State of a running program, as data for any number of ranks.

A program opens a frame for a loop that can be saved. The frame contains the loop's arrays and
numbers by name, each with its distribution over the ranks. Between two steps the frame has a
boundary, where `mpinet.machine.checkpoint` may write all open frames. A resumed run opens the same
frames, which then start with the saved values. Without checkpoints a frame does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.base.records import with_room
from mpinet.machine import trace as traces
from mpinet.machine.saving import Checkpointing
from mpinet.machine.stepping import Stepping
from mpinet.machine.transport import Local

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Numbered:
    """Array with a row for every number held by this rank, such as a processor or an element."""

    value: Array
    """The rows. Shape (k, ..)."""
    keys: Ints
    """Numbers of the rows, unique over all ranks. A resumed run may distribute them differently.
    Shape (k,).
    """


@dataclass(frozen=True, eq=False)
class Located:
    """Rows at processors of this rank, any number per processor, such as messages."""

    value: Any
    """The rows. Type: ndarray, shape (k, ..)."""
    node: Callable[[Array], Ints] = lambda rows: rows[:, 0] if rows.ndim > 1 else rows
    """``node(rows)`` returns the rows' processors, shape (k,). Default: the first column."""
    # Saved rows come back in any order of ranks; programs that rely on an order must state it.
    order: Callable[[Array], Ints] | None = None
    """``order(rows)`` returns the indices that sort the rows, shape (k,). Default: by processor, in
    the previous order for each processor.
    """


@dataclass(frozen=True, eq=False)
class Total:
    """A count of this rank, or an array of counts, to be summed over all ranks."""

    value: Any


@dataclass(frozen=True, eq=False)
class Largest:
    """A number of this rank; the largest number of all ranks is saved."""

    value: int


@dataclass(frozen=True, eq=False)
class Same:
    """An array that is equal on all ranks."""

    value: Array


@dataclass(frozen=True, eq=False)
class Joined:
    """An array whose rows are gathered from all ranks, in any order."""

    value: Array


Kind = Numbered | Located | Total | Largest | Same | Joined

Fields = Mapping[str, Any]
"""Fields by name: each a `Kind`, or a number, text or list of these that is equal on all ranks."""


class Frame:
    """A loop whose state can be saved; a context manager around the loop.

    Parameters
    ----------
    ranks : Machine or Local
        The loop's machine; without a machine, the ranks.
    name : str
        Name of the loop in checkpoints.
    state : callable
        ``state()`` returns the loop's state as `Fields`, always with the same names and kinds.
    restore : callable
        ``restore(found)`` sets the loop's state from fields of the same names.
    """

    def __init__(
        self,
        ranks: Stepping | Local,
        name: str,
        state: Callable[[], Fields],
        restore: Callable[[Mapping[str, Any]], None],
    ):
        self.machine = None if isinstance(ranks, Local) else ranks
        transport = ranks if isinstance(ranks, Local) else ranks.transport
        self.name = name
        self.state, self.restore = state, restore
        self.ordinal = self.children = 0
        # Values computed once that are expensive or random: a resumed run must not compute other
        # values.
        self.known: dict[str, Any] = {}
        self._keeper: Checkpointing | None = transport.keeper

    def __enter__(self: T) -> T:
        frame: Any = self
        if frame._keeper is not None:
            frame._keeper.enter(frame)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._keeper is not None:
            self._keeper.leave(self)

    @property
    def steps(self) -> int:
        """Number of steps made by the frame's machine."""
        return self.machine.steps if self.machine else 0

    def boundary(self) -> None:
        """Mark a boundary between steps: write a checkpoint if due or requested (collective).

        All decisions since the ranks' last collective must be known to all ranks.

        Raises
        ------
        Suspended
            The request was to end the run after the checkpoint.
        """
        # Without checkpoints a boundary is one comparison, cheap enough for every step.
        if self._keeper is not None:
            self._keeper.poll()

    def meeting(self) -> None:
        """Mark a boundary at which ranks meet after independent work (collective)."""
        if self._keeper is not None:
            self._keeper.meet()

    def once(self, name: str, compute: Callable[[], T]) -> T:
        """Return the result of `compute`; a resumed run returns the saved value.

        Parameters
        ----------
        name : str
            Name of the value.
        compute : callable
            Returns a number, a text, None or a list of these, the same on all ranks.
        """
        if name not in self.known:
            self.known[name] = compute()
        found: T = self.known[name]
        return found


class StatePart(Protocol):
    """An object with its own state in a checkpoint."""

    def state(self) -> Fields:
        """Return fields for a checkpoint, with names unique in the loop."""

    def restore(self, found: Mapping[str, Any]) -> None:
        """Restore the fields of `state`, on any number of ranks, and ignore other fields."""


class Collected:
    """Growing array of rows; a `StatePart` of a loop.

    Parameters
    ----------
    name : str
        Name of the array in checkpoints.
    most : int
        Initial capacity in rows.
    width : int
        Numbers per row.
    node : callable, optional
        As for `Located`.
    """

    def __init__(
        self,
        name: str,
        most: int,
        width: int,
        node: Callable[[Array], Ints] = lambda rows: rows[:, 0],
    ):
        self._name, self._node = name, node
        self._rows, self._count = np.empty((most, width), np.int64), 0

    @property
    def rows(self) -> Ints:
        """Rows added so far, in order."""
        return self._rows[: self._count]

    def add(self, rows: Ints) -> None:
        """Append these rows."""
        before, self._count = self._count, self._count + len(rows)
        self._rows = with_room(self._rows, self._count)
        self._rows[before : self._count] = rows

    def state(self) -> Fields:
        """Return the rows as a field for a checkpoint."""
        return {self._name: Located(self.rows, self._node)}

    def restore(self, found: Mapping[str, Any]) -> None:
        """Restore the rows saved by `state`, on any number of ranks."""
        self._count = 0
        self.add(found[self._name])


class State(Frame):
    """A frame whose fields are its attributes.

    Parameters
    ----------
    ranks, name
        As for `Frame`.
    parts : StatePart
        Objects of the program with their own state, saved with the loop.
    fields : Kind, or a number, text or list
        Initial value of every attribute; later values must be of the same kind.

    Examples
    --------
    >>> from mpinet.machine import Machine
    >>> machine = Machine("ring:4")
    >>> none = Numbered(machine.nodes * 0, machine.nodes)
    >>> with State(machine, "count", step=0, count=none) as state:
    ...     while state.step < 3:
    ...         state.count = state.count + 1
    ...         state.step += 1
    ...         state.boundary()
    >>> state.count
    array([3, 3, 3, 3])
    """

    def __init__(self, ranks: Stepping | Local, name: str, *parts: StatePart, **fields: Any):
        super().__init__(ranks, name, self._fields, self._take)
        self._parts, self._kinds = parts, fields
        for field, kind in fields.items():
            setattr(self, field, kind.value if isinstance(kind, Kind) else kind)

    if TYPE_CHECKING:

        def __setattr__(self, name: str, value: Any) -> None: ...

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"A state {self.name!r} keeps no {name!r}.")

    def _fields(self) -> Fields:
        fields = {name: value for part in self._parts for name, value in part.state().items()}
        for name, kind in self._kinds.items():
            value = getattr(self, name)
            # Kinds are declared once. Only the values change from boundary to boundary.
            fields[name] = replace(kind, value=value) if isinstance(kind, Kind) else value
        return fields

    def _take(self, found: Mapping[str, Any]) -> None:
        for part in self._parts:
            part.restore(found)
        for name in self._kinds:
            setattr(self, name, found[name])


def machine_state(machine: Stepping) -> Fields:
    """Return the checkpoint fields of a machine itself: its meters and its recording."""
    meters, trace = machine.meters, machine.trace
    fields: dict[str, Any] = {
        "steps": meters.steps,
        "messages": Total(meters.messages),
        "crossed": Total(meters.crossed),
        "crossed_bytes": Total(meters.crossed_bytes),
    }
    if machine.metered:
        loads = meters.loads.reshape(machine.placement.count, machine.topology.ports)
        fields["loads"] = Numbered(loads, machine.nodes)
    if trace is not None:
        moves = trace.moves.between(0, trace.moves.count)
        fields["moves"] = Located(moves, lambda rows: rows["sender"], lambda rows: _by_step(rows))
        fields["idle"], fields["numbered"] = trace.idle, trace.numbered
    return fields


def _by_step(rows: Array) -> Ints:
    return np.argsort(rows["step"], kind="stable")


def restore_machine(machine: Stepping, found: Mapping[str, Any]) -> None:
    """Restore a machine from the fields of `machine_state`."""
    meters, trace = machine.meters, machine.trace
    meters.steps, meters.messages = found["steps"], found["messages"]
    meters.crossed, meters.crossed_bytes = found["crossed"], found["crossed_bytes"]
    if machine.metered:
        meters.loads[:] = found["loads"].reshape(-1)
    if trace is not None:
        trace.idle, trace.numbered = found["idle"], found["numbered"]
        # Rows were sent to the ranks that host their senders now. They are entered step by step
        # again.
        trace.moves = traces.Spill(traces.RECORD)
        for rows in parts_of(found["moves"], found["moves"]["step"]):
            trace.moves.add(rows)


def parts_of(rows: Array, steps: Ints) -> list[Array]:
    """Split rows in ascending order of steps into one part per step."""
    return np.split(rows, np.flatnonzero(np.diff(steps)) + 1) if len(rows) else []
