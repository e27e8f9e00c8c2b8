"""``mpinet measure``: one measure of a network, by its function name in `mpinet.measure`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, ClassVar

from mpinet.commands.functions import function_with
from mpinet.commands.network import Network
from mpinet.commands.optionrecords import Common, Options, Seed, Typed
from mpinet.commands.result import Result


class MeasureResult(Result):
    """Result of ``measure``; the field ``value`` is read as ``result["value"]``."""

    measure: str
    arguments: dict[str, Any]

    beside_: ClassVar = {"value": Any}


@dataclass(frozen=True)
class MeasureOptions(Options):
    """Measure one property of a network (collective).

    Examples
    --------
    ``mpinet measure torus:8x8 bisection``

    ``mpinet measure hypercube:4 connectivity``
    """

    command = "measure"
    topology: Network
    what: str
    """Function of `mpinet.measure`, such as diameter, bisection, connectivity or orbits."""
    arguments: Annotated[Sequence[str], Typed(metavar="NAME=VALUE")] = ()
    """Further arguments of the function: ``node=3``, ``dead=1,2``, ``cut=0-1,2-3``."""
    _: KW_ONLY
    seed: Seed = 0


measure = function_with(MeasureOptions, MeasureResult, Common)
