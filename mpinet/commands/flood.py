"""``mpinet flood``: flood the machine from one node."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from mpinet.commands.fields import Count
from mpinet.commands.functions import function_with
from mpinet.commands.network import Network
from mpinet.commands.optionrecords import Common, SavedOften, Views
from mpinet.commands.options import FaultWords, MachineOptions, Place, Ports
from mpinet.commands.result import Result


class FloodResult(Result):
    """Result of ``flood``."""

    steps: Count
    messages: Count
    informed: Count
    eccentricity: Count


@dataclass(frozen=True)
class FloodOptions(MachineOptions):
    """Flood the machine from one node (collective).

    Examples
    --------
    ``mpinet flood torus:8x8``

    ``mpinet flood hypercube:6 --root 5``

    >>> import mpinet
    >>> mpinet.flood("ring:8").steps
    4
    """

    command = "flood"
    topology: Network
    _: KW_ONLY
    root: Place = 0
    """Node where the flood starts: number or address."""
    ports: Ports = "all"
    faults: FaultWords = None


flood = function_with(FloodOptions, FloodResult, Views, SavedOften, Common)
