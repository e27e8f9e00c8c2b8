"""Fault tolerance: a communicator's calls for continuing without failed members."""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, ClassVar

from mpinet.mpi.communicators.creation import bind, null_comm
from mpinet.mpi.communicators.groups import Group, fixed
from mpinet.mpi.messages.requests import Request
from mpinet.mpi.real import REAL, as_int
from mpinet.mpi.world.calls import asking, call, running
from mpinet.mpi.world.endpoint import Endpoint
from mpinet.mpi.world.ranks import RankTable, rank_table
from mpinet.mpi.world.recovery import Recovery

INTEGER = 4
"""Size of a flag in bytes."""


class FaultTolerance(Endpoint):
    """Calls about failed members, as in `mpi4py.MPI.Comm`."""

    __slots__ = ()

    _kinds: ClassVar[tuple[type[Any], type[Any]]]

    @call
    def Revoke(self) -> None:
        """Revoke the communicator: all calls of all members fail, except fault-tolerance calls."""
        _recovery().revoke(self._context)

    def Is_revoked(self) -> bool:
        """Return whether the caller knows that the communicator is revoked."""
        return _recovery().is_revoked(self._context)

    def Get_failed(self) -> Group:
        """Return the group of members whose failure is known."""
        return Group._of(_recovery().failed(self._context))

    def Ack_failed(self, num_to_ack: int | None = None) -> int:
        """Acknowledge the first failures (default: all); return the number acknowledged so far."""
        recovery, context = _recovery(), self._context
        failed = recovery.failed(context)
        most = len(failed) if num_to_ack is None else as_int(num_to_ack)
        acknowledged = recovery.acknowledged(asking("Ack_failed"), context)
        acknowledged.update(failed[: max(0, most)])
        return len(acknowledged)

    @call
    def Agree(self, flag: int) -> int:
        """Return the bitwise and of the flags of all living members.

        Raises
        ------
        Exception
            ``ERR_PROC_FAILED``: some member has not acknowledged a failure; raised on all members.
        """
        return self._agreed_on(as_int(flag))

    @call
    def Iagree(self, flag: Any) -> Request:
        """Begin an agreement on the bits of a flag, which receives the result."""
        memory = REAL.buffer.frombuffer(flag)
        if memory.nbytes != INTEGER:
            raise ValueError(f"flag: expecting {INTEGER} bytes, got {memory.nbytes}")
        wanted = int.from_bytes(memory.tobytes(), "little", signed=True)

        def work() -> None:
            memory[0:INTEGER] = self._agreed_on(wanted).to_bytes(INTEGER, "little", signed=True)

        return Request._of_fiber(work)

    @call
    def Shrink(self) -> Any:
        """Return a communicator of the living members."""
        made, shrink = self._shrinking()
        shrink()
        return made

    @call
    def Ishrink(self) -> tuple[Any, Request]:
        """Begin to create a communicator of the living members."""
        made, shrink = self._shrinking()
        return made, Request._of_fiber(shrink)

    def _agreed_on(self, flag: int) -> int:
        decision = _recovery().agree(self._context, flag)
        if set(decision.processors) - set(decision.acknowledged):
            raise REAL.Exception(REAL.ERR_PROC_FAILED)
        return decision.flag

    def _shrinking(self) -> tuple[Any, Callable[[], None]]:
        """Return a null communicator, and a function that binds it to the living members."""
        kept = running.turns.current.storage()
        key = Recovery, FaultTolerance, self._context
        number = kept[key] = kept.get(key, 0) + 1
        name: Hashable = "shrunk", self._name_of_context, number, 0
        made = null_comm(self._kinds[self._others is not self._group])
        shared = running.world.contexts.groups(self._context)

        def shrink() -> None:
            decision = _recovery().agree(self._context, -1)

            def groups() -> tuple[RankTable, ...]:
                both = (fixed(group).members for group in shared)
                return tuple(
                    rank_table([one for one in members if one not in decision.processors])
                    for members in both
                )

            bind(made, name, groups)

        return made, shrink

    @property
    def _name_of_context(self) -> Any:
        """Name of the context, the same for all members."""
        raise NotImplementedError


def _recovery() -> Recovery:
    recovery: Recovery = running.world.recovery
    return recovery
