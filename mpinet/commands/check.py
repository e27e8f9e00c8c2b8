"""``mpinet check``: check a network's rules against each other."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from mpinet.commands.fields import Count
from mpinet.commands.functions import function_with
from mpinet.commands.network import Network
from mpinet.commands.optionrecords import Common, Options, Seed
from mpinet.commands.result import Result


class CheckResult(Result):
    """Result of ``check``."""

    topology: str
    nodes: Count
    ports: Count
    exhaustive: bool
    addresses: Count
    routes: Count


@dataclass(frozen=True)
class CheckOptions(Options):
    """Check a network's rules against each other (collective).

    Every node of a small network, and a sample of a large one that the seed draws.

    Returns
    -------
    Result
        They tell how much was looked at.

    Examples
    --------
    ``mpinet check torus:8x8``

    ``mpinet check wheel.py:Wheel:8``
    """

    command = "check"
    topology: Network
    _: KW_ONLY
    seed: Seed = 0


check = function_with(CheckOptions, CheckResult, Common)
