"""``mpinet ascend`` and ``mpinet descend``: programs that pass over all dimensions."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from mpinet.commands.fields import Count, Phase, When
from mpinet.commands.functions import function_with
from mpinet.commands.network import Network
from mpinet.commands.optionrecords import Common, SavedOften, Typed, Views
from mpinet.commands.options import MachineOptions, PartsName, Ports
from mpinet.commands.result import Result

Computed = Annotated[
    str,
    Typed(
        "Operator to compute, or one's own, as ``path/file.py:Class`` or ``module:Class``",
        metavar="NAME",
        listed="mpinet.programs.operators:listed",
    ),
]


Pairing = Annotated[
    str | None,
    Typed(
        "Schedule that brings pairs together: the network's own (default; its name is in the "
        "result), or one of these",
        metavar="NAME",
        listed="mpinet.programs.schedules:SCHEDULES",
    ),
]


class ProgramResult(Result):
    """Result of ``ascend`` and ``descend``."""

    operator: str
    algorithm: str
    elements: Count
    steps: Count
    correct: Annotated[bool, "against the serial computation"]
    phases: list[Phase]
    copies: Annotated[Count, When("with ``--parts``"), "copies at work at the same time"]
    alone: Annotated[Count, When("with ``--parts``"), "steps of one copy alone"]


@dataclass(frozen=True, kw_only=True)
class Downwards:
    """Order of the dimensions."""

    down: Annotated[
        bool,
        Typed(
            "Whether to run a DESCEND program, from the highest dimension to the lowest: "
            "``mpinet descend``.",
            function="descend",
        ),
    ] = False


@dataclass(frozen=True, init=False, repr=False, eq=False)
class PassOptions(MachineOptions):
    """Program with one pass over all dimensions."""

    is_own = True
    topology: Network
    _: KW_ONLY
    operator: Computed
    algorithm: Pairing = None
    parts: PartsName = None
    change: Annotated[str | None, Typed(metavar="J:NETWORK")] = None
    """Change of the links during the run: dimensions from J on are routed over NETWORK, which has
    the same number of processors."""
    ports: Ports = "all"


@dataclass(frozen=True)
class AscendOptions(PassOptions):
    """Run an ASCEND program, and compare its result with a serial computation (collective).

    Examples
    --------
    ``mpinet ascend hypercube:4 --operator sum``

    ``mpinet ascend hypercube:4 --operator bitonic-merge --down``

    >>> import mpinet
    >>> mpinet.ascend("hypercube:4", operator="sum").steps
    4
    """

    command = "ascend"


ascend = function_with(AscendOptions, ProgramResult, Downwards, Views, SavedOften, Common)


@dataclass(frozen=True)
class DescendOptions(PassOptions):
    """Run a DESCEND program, and compare its result with a serial computation (collective).

    Examples
    --------
    ``mpinet descend hypercube:4 --operator sum``

    ``mpinet descend hypercube:4 --operator bitonic-merge``

    >>> import mpinet
    >>> mpinet.descend("hypercube:4", operator="sum").steps
    4
    """

    command = "descend"


descend = function_with(DescendOptions, ProgramResult, Views, SavedOften, Common)
