"""Blocking, nonblocking and persistent calls, generated from a collective's plan."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import Parameter, signature
from itertools import count
from typing import Any

from mpinet.mpi.collectives.collective import CallPlan
from mpinet.mpi.messages.buffers import with_own_datatypes
from mpinet.mpi.messages.persistent import Prequest
from mpinet.mpi.messages.requests import Request
from mpinet.mpi.real import REAL
from mpinet.mpi.world.calls import put_call
from mpinet.mpi.world.endpoint import Endpoint

INFO = Parameter("info", Parameter.POSITIONAL_OR_KEYWORD, default=REAL.INFO_NULL, annotation="Any")
"""Additional parameter of calls that initialize a persistent collective."""


class Planned:
    """Three calls of a communicator, generated from a function that plans a collective.

    For the name `Bcast` the calls are `Bcast` (blocking), `Ibcast` (nonblocking, in a helper fiber)
    and `Bcast_init` (persistent; each start uses a helper fiber).

    Parameters
    ----------
    plan : callable
        The function.
    *first
        Arguments of the function before the communicator.
    """

    def __init__(self, plan: Callable[..., CallPlan], *first: Any):
        self._plan = partial(plan, *first)

    def __set_name__(self, owner: type[Any], name: str) -> None:
        plan, begun, prepared = self._plan, f"I{name.lower()}", f"{name}_init"

        # `call` writes out the parameters and passes all of them by position.
        def do(comm: Endpoint, *arguments: Any) -> None:
            planned = plan(comm, *arguments)
            planned.do(planned.part(comm, name))

        def begin(comm: Endpoint, *arguments: Any) -> Request:
            planned = plan(comm, *with_own_datatypes(*arguments))
            return beside(planned, planned.part(comm, begun))

        def prepare(comm: Endpoint, *arguments: Any) -> Prequest:
            # The last argument contains hints, which have no effect.
            planned = plan(comm, *with_own_datatypes(*arguments[:-1]))
            # The call's number is assigned at initialization. Members may start their requests in
            # different orders, but initialize them in the same order.
            part, starts = planned.part(comm, prepared), count()
            return Prequest._repeating(lambda: beside(planned, part.again(next(starts))))

        own = signature(plan).parameters.values()
        put_call(owner, name, do, *own)
        put_call(owner, begun, begin, *own)
        put_call(owner, prepared, prepare, *own, INFO)


def beside(plan: CallPlan, part: Any) -> Request:
    """Carry out a plan in a helper fiber; return its request."""
    return Request._of_fiber(lambda: plan.do(part))
