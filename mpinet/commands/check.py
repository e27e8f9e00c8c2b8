"""``mpinet check``: check the rules of a network for consistency."""

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
    """Check the rules of a network for consistency (collective).

    All nodes of a small network are checked; of a large network a random sample, drawn by the seed.

    Returns
    -------
    Result
        The fields state how many nodes and routes were checked.

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
