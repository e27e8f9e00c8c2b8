"""Calls made of a collective's plan: to do it at once, beside the script, or again and again."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from itertools import count
from typing import Any

from mpinet.mpi.collectives.collective import Plan
from mpinet.mpi.messages.buffers import with_own_datatypes
from mpinet.mpi.messages.persistent import Prequest
from mpinet.mpi.messages.requests import Request
from mpinet.mpi.real import REAL
from mpinet.mpi.world.calls import call
from mpinet.mpi.world.endpoint import Endpoint

INFO = Parameter("info", Parameter.POSITIONAL_OR_KEYWORD, default=REAL.INFO_NULL, annotation="Any")
"""Parameter that calls which prepare a collective take beside the collective's own."""


class Planned:
    """Decorator that puts three calls in the place of a method that plans a collective.

    Of a method `Bcast` they are `Bcast`, which does what is planned; `Ibcast`, which lets a helper
    fiber do it beside the script; and `Bcast_init`, which gives a request that lets a helper fiber
    do it whenever it is started.

    Parameters
    ----------
    plan : callable
        The method.
    """

    def __init__(self, plan: Callable[..., Plan]):
        self._plan = plan

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
            part, starts = planned.part(comm, prepared), count()
            return Prequest._repeating(lambda: beside(planned, part.again(next(starts))))

        setattr(owner, name, self._call(do, name))
        setattr(owner, begun, self._call(begin, begun))
        setattr(owner, prepared, self._call(prepare, prepared, INFO))

    def _call(self, made: Callable[..., Any], name: str, *more: Parameter) -> Callable[..., Any]:
        """A call with the plan's parameters, and more, that does what has been made of the plan."""
        own = signature(self._plan)
        gives = made.__annotations__["return"]
        made.__name__ = name
        made.__qualname__ = f"{self._plan.__qualname__.rpartition('.')[0]}.{name}"
        made.__signature__ = own.replace(  # type: ignore[attr-defined]
            parameters=[*own.parameters.values(), *more], return_annotation=gives
        )
        return call(made)


def beside(plan: Plan, part: Any) -> Request:
    """Let a helper fiber do a plan beside the script; return the request of its end."""
    return Request._of_fiber(lambda: plan.do(part))
