"""mpinet: an MPI-distributed emulator of message-passing machines.

The public names; they are loaded where first used, so that ``import mpinet`` stays instant. What is
imported for type checkers names the same (the tests compare the two).
"""

from importlib import import_module
from typing import TYPE_CHECKING

from mpinet.notebook import shown_by
from mpinet.version import __version__

if TYPE_CHECKING:
    from mpinet import schedule as schedule
    from mpinet.commands.allreduce import allreduce as allreduce
    from mpinet.commands.ascend import ascend as ascend
    from mpinet.commands.ascend import descend as descend
    from mpinet.commands.broadcast import broadcast as broadcast
    from mpinet.commands.circulate import circulate as circulate
    from mpinet.commands.compare import compare as compare
    from mpinet.commands.draw import draw as draw
    from mpinet.commands.embed import embed as embed
    from mpinet.commands.exchange import exchange as exchange
    from mpinet.commands.exec import exec as exec
    from mpinet.commands.find import find as find
    from mpinet.commands.flood import flood as flood
    from mpinet.commands.gossip import gossip as gossip
    from mpinet.commands.load import load as load
    from mpinet.commands.neighbors import neighbors as neighbors
    from mpinet.commands.optimum import optimum as optimum
    from mpinet.commands.path import path as path
    from mpinet.commands.plot import plot as plot
    from mpinet.commands.reduce import reduce as reduce
    from mpinet.commands.result import Result as Result
    from mpinet.commands.route import route as route
    from mpinet.commands.run import run as run
    from mpinet.commands.scatter import gather as gather
    from mpinet.commands.scatter import scatter as scatter
    from mpinet.commands.show import show as show
    from mpinet.commands.sweep import sweep as sweep
    from mpinet.commands.topologies import topologies as topologies
    from mpinet.compiled import inlined as inlined
    from mpinet.compiled import rule as rule
    from mpinet.errors import ModelViolation as ModelViolation
    from mpinet.errors import MpinetError as MpinetError
    from mpinet.networks import Routing as Routing
    from mpinet.networks import Topology as Topology
    from mpinet.networks import check as check
    from mpinet.networks import open as open
    from mpinet.networks.graph import to_networkx as to_networkx
    from mpinet.process import Machine as Machine

_PUBLIC = {
    "Machine": "mpinet.process",
    "ModelViolation": "mpinet.errors",
    "MpinetError": "mpinet.errors",
    "Result": "mpinet.commands.result",
    "Routing": "mpinet.networks",
    "Topology": "mpinet.networks",
    "allreduce": "mpinet.commands.allreduce",
    "ascend": "mpinet.commands.ascend",
    "broadcast": "mpinet.commands.broadcast",
    "check": "mpinet.networks",
    "circulate": "mpinet.commands.circulate",
    "descend": "mpinet.commands.ascend",
    "compare": "mpinet.commands.compare",
    "draw": "mpinet.commands.draw",
    "embed": "mpinet.commands.embed",
    "exchange": "mpinet.commands.exchange",
    "exec": "mpinet.commands.exec",
    "find": "mpinet.commands.find",
    "flood": "mpinet.commands.flood",
    "gather": "mpinet.commands.scatter",
    "gossip": "mpinet.commands.gossip",
    "inlined": "mpinet.compiled",
    "load": "mpinet.commands.load",
    "neighbors": "mpinet.commands.neighbors",
    "open": "mpinet.networks",
    "optimum": "mpinet.commands.optimum",
    "path": "mpinet.commands.path",
    "plot": "mpinet.commands.plot",
    "reduce": "mpinet.commands.reduce",
    "route": "mpinet.commands.route",
    "rule": "mpinet.compiled",
    "run": "mpinet.commands.run",
    "scatter": "mpinet.commands.scatter",
    "schedule": "mpinet.schedule",
    "show": "mpinet.commands.show",
    "sweep": "mpinet.commands.sweep",
    "to_networkx": "mpinet.networks.graph",
    "topologies": "mpinet.commands.topologies",
}

__all__ = ["__version__", *_PUBLIC]

shown_by(lambda: import_module("mpinet.report.cards").card_of)

if not TYPE_CHECKING:  # a checker would take every name, also a misspelt one, for Any

    def __getattr__(name: str) -> object:
        """Load a public name from its room."""
        if name not in _PUBLIC:
            raise AttributeError(f"module 'mpinet' has no attribute '{name}'")
        room = import_module(_PUBLIC[name])
        return room if _PUBLIC[name] == f"{__name__}.{name}" else getattr(room, name)


def __dir__() -> list[str]:
    """Names that completion offers."""
    return sorted(__all__)
