"""State of a running program, as data that any number of ranks can hold.

A program whose loop can be saved opens a frame for it: the loop's arrays and numbers by name, each
with whose it is. Between two steps the frame has a boundary, and there `mpinet.machine.checkpoint`
may write all open frames down. A run that goes on opens the same frames, which then begin with what
was written. Without checkpoints a frame does nothing.
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
    """Array with a row for every number that this rank holds, such as a processor or an element."""

    value: Array
    """The rows. Shape (k, ..)."""
    keys: Ints
    """Their numbers, all different, also on other ranks. Which rank has which may differ when the
    run goes on. Shape (k,)."""


@dataclass(frozen=True, eq=False)
class Located:
    """Rows at processors of this rank, any number per processor, such as messages."""

    value: Any
    """The rows. Type: ndarray, shape (k, ..)."""
    node: Callable[[Array], Ints] = lambda rows: rows[:, 0] if rows.ndim > 1 else rows
    """``node(rows)``: the processors that they are at, shape (k,). Default: the first column."""
    # Saved rows come back in any order of ranks; a program that relies on an order has to state it.
    order: Callable[[Array], Ints] | None = None
    """``order(rows)``: the places of the rows in order, shape (k,). Default: by processor, those of
    one as they were."""


@dataclass(frozen=True, eq=False)
class Total:
    """A count of this rank, or an array of counts, that is summed over all ranks."""

    value: Any


@dataclass(frozen=True, eq=False)
class Largest:
    """A number of this rank, of which the largest over all ranks is kept."""

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
    """A loop that can be saved; a context manager, within which the loop runs.

    Parameters
    ----------
    ranks : Machine or Local
        The machine that it steps, or if it steps none, the ranks.
    name : str
        What it is called in checkpoints.
    state : callable
        ``state()``: what the loop keeps, as `Fields`; the same names and kinds at all times.
    restore : callable
        ``restore(found)``: take these values for it, by the same names.
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
        # Values that are computed once and are expensive, or random: a resumed run must not compute
        # others.
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
        """Number of steps that the frame's machine has made."""
        return self.machine.steps if self.machine else 0

    def boundary(self) -> None:
        """Mark a boundary between steps: write a checkpoint if one is due or wanted (collective).

        Since the ranks' last collective nothing may have been decided that others do not know.

        Raises
        ------
        Suspended
            It was wanted in order to end the run.
        """
        # Without checkpoints a boundary is one comparison, cheap enough for every step.
        if self._keeper is not None:
            self._keeper.poll()

    def meeting(self) -> None:
        """Mark a boundary at which ranks that have worked independently meet (collective)."""
        if self._keeper is not None:
            self._keeper.meet()

    def once(self, name: str, compute: Callable[[], T]) -> T:
        """Return what `compute` gives; a run that resumes later takes the saved value.

        Parameters
        ----------
        name : str
            What it is called.
        compute : callable
            Gives a number, a text, None or a list of these, the same on all ranks.
        """
        if name not in self.known:
            self.known[name] = compute()
        found: T = self.known[name]
        return found


class StatePart(Protocol):
    """An object with state of its own that a checkpoint keeps."""

    def state(self) -> Fields:
        """Fields for a checkpoint, under names that no other part of the loop uses."""

    def restore(self, found: Mapping[str, Any]) -> None:
        """Take over what `state` gave, on any number of ranks; other names may stand beside."""


class Collected:
    """Array of rows that come a few at a time; a `StatePart` of a loop.

    Parameters
    ----------
    name : str
        What it is called in checkpoints.
    most : int
        How many rows there is room for at first.
    width : int
        Numbers of a row.
    node : callable, optional
        As of `Located`.
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
        """Fields for a checkpoint."""
        return {self._name: Located(self.rows, self._node)}

    def restore(self, found: Mapping[str, Any]) -> None:
        """Take over what `state` gave, on any number of ranks."""
        self._count = 0
        self.add(found[self._name])


class State(Frame):
    """A frame whose fields are its attributes.

    Parameters
    ----------
    ranks, name
        As for `Frame`.
    parts : StatePart
        Objects of the program's whose own state belongs to the loop's.
    fields : Kind, or a number, text or list
        What every attribute is at first; later ones are of the same kind.

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
    """Fields of a machine itself: its meters and its recording."""
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
    """Restore a machine from what `machine_state` gave."""
    meters, trace = machine.meters, machine.trace
    meters.steps, meters.messages = found["steps"], found["messages"]
    meters.crossed, meters.crossed_bytes = found["crossed"], found["crossed_bytes"]
    if machine.metered:
        meters.loads[:] = found["loads"].reshape(-1)
    if trace is not None:
        trace.idle, trace.numbered = found["idle"], found["numbered"]
        # Rows were sent to the ranks that host their senders now; they are entered step by step as
        # before.
        trace.moves = traces.Spill(traces.RECORD)
        for rows in parts_of(found["moves"], found["moves"]["step"]):
            trace.moves.add(rows)


def parts_of(rows: Array, steps: Ints) -> list[Array]:
    """Split rows that ascend by step into one part per step."""
    return np.split(rows, np.flatnonzero(np.diff(steps)) + 1) if len(rows) else []
