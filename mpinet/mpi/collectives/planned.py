"""Calls made of a collective's plan: to do it at once, beside the script, or again and again."""

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
"""Parameter that calls which prepare a collective take beside the collective's own."""


class Planned:
    """Three calls of a communicator in the place of a function that plans a collective.

    Of one that is called `Bcast` they are `Bcast`, which does what is planned; `Ibcast`, which lets
    a helper fiber do it beside the script; and `Bcast_init`, which gives a request that lets a
    helper fiber do it whenever it is started.

    Parameters
    ----------
    plan : callable
        The function.
    *first
        Its arguments before the communicator.
    """

    def __init__(self, plan: Callable[..., CallPlan], *first: Any):
        self._plan = partial(plan, *first)

    def __set_name__(self, owner: type[Any], name: str) -> None:
        plan, begun, prepared = self._plan, f"I{name.lower()}", f"{name}_init"

        # `call` writes the parameters out, and hands all of them over by place.
        def do(comm: Endpoint, *arguments: Any) -> None:
            planned = plan(comm, *arguments)
            planned.do(planned.part(comm, name))

        def begin(comm: Endpoint, *arguments: Any) -> Request:
            planned = plan(comm, *with_own_datatypes(*arguments))
            return beside(planned, planned.part(comm, begun))

        def prepare(comm: Endpoint, *arguments: Any) -> Prequest:
            # The last argument holds hints, which change nothing.
            planned = plan(comm, *with_own_datatypes(*arguments[:-1]))
            # The call's number is drawn when it is prepared. Members may start their requests in
            # different orders, but prepare them in one.
            part, starts = planned.part(comm, prepared), count()
            return Prequest._repeating(lambda: beside(planned, part.again(next(starts))))

        own = signature(plan).parameters.values()
        put_call(owner, name, do, *own)
        put_call(owner, begun, begin, *own)
        put_call(owner, prepared, prepare, *own, INFO)


def beside(plan: CallPlan, part: Any) -> Request:
    """Let a helper fiber do a plan beside the script; return the request of its end."""
    return Request._of_fiber(lambda: plan.do(part))
