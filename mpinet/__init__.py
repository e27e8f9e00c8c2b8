"""mpinet: an MPI-distributed emulator of message-passing machines.

The public names; they are loaded where first used, so that ``import mpinet`` stays instant. What is
imported for type checkers names the same (the tests compare the two).
"""

from importlib import import_module
from typing import TYPE_CHECKING

from mpinet.base.notebook import shown_by
from mpinet.base.rooms import commanded_by
from mpinet.base.version import __version__
from mpinet.commands.catalogue import FUNCTIONS, MODULES, ROOMS, SYNONYMS

if TYPE_CHECKING:
    from mpinet import bench as bench
    from mpinet import certify as certify
    from mpinet import measure as measure
    from mpinet import schedule as schedule
    from mpinet.commands.ascend import ascend as ascend
    from mpinet.commands.ascend import descend as descend
    from mpinet.commands.broadcast import bcast as bcast
    from mpinet.commands.broadcast import broadcast as broadcast
    from mpinet.commands.collectives import *  # noqa: F403
    from mpinet.commands.compare import compare as compare
    from mpinet.commands.demo import demo as demo
    from mpinet.commands.doctor import doctor as doctor
    from mpinet.commands.draw import draw as draw
    from mpinet.commands.embed import embed as embed
    from mpinet.commands.exec import exec as exec
    from mpinet.commands.find import find as find
    from mpinet.commands.flood import flood as flood
    from mpinet.commands.load import load as load
    from mpinet.commands.neighbors import neighbors as neighbors
    from mpinet.commands.optimum import optimum as optimum
    from mpinet.commands.pareto import pareto as pareto
    from mpinet.commands.path import path as path
    from mpinet.commands.play import play as play
    from mpinet.commands.plot import plot as plot
    from mpinet.commands.predict import predict as predict
    from mpinet.commands.replay import replay as replay
    from mpinet.commands.reproduce import reproduce as reproduce
    from mpinet.commands.result import Result as Result
    from mpinet.commands.route import route as route
    from mpinet.commands.run import run as run
    from mpinet.commands.show import show as show
    from mpinet.commands.sweep import sweep as sweep
    from mpinet.commands.template import template as template
    from mpinet.commands.topologies import topologies as topologies
    from mpinet.commands.trace import trace as trace
    from mpinet.commands.tune import tune as tune
    from mpinet.commands.verify import verify as verify
    from mpinet.compiled import inlined as inlined
    from mpinet.compiled import rule as rule
    from mpinet.errors import ModelViolation as ModelViolation
    from mpinet.errors import MpinetError as MpinetError
    from mpinet.mpi.alone import comm_self as comm_self
    from mpinet.networks import Routing as Routing
    from mpinet.networks import Topology as Topology
    from mpinet.networks import check as check
    from mpinet.networks import open as open
    from mpinet.networks.catalogue import to_networkx as to_networkx
    from mpinet.process import Machine as Machine

_PUBLIC = {
    name: f"mpinet.commands.{MODULES.get(name, name)}" for name in (*FUNCTIONS, *SYNONYMS)
} | {
    **{name: f"mpinet.{name}" for name in ROOMS},
    "Machine": "mpinet.process",
    "ModelViolation": "mpinet.errors",
    "MpinetError": "mpinet.errors",
    "Result": "mpinet.commands.result",
    "Routing": "mpinet.networks",
    "Topology": "mpinet.networks",
    "comm_self": "mpinet.mpi.alone",
    "check": "mpinet.networks",
    "inlined": "mpinet.compiled",
    "open": "mpinet.networks",
    "rule": "mpinet.compiled",
    "schedule": "mpinet.schedule",
    "to_networkx": "mpinet.networks.catalogue",
}

__all__ = ["__version__", *_PUBLIC]

commanded_by(lambda name: import_module("mpinet.commands").function_of(name))
shown_by(lambda: import_module("mpinet.report.cards").card_of)

if not TYPE_CHECKING:  # a checker would take every name, also a misspelt one, for Any

    def __getattr__(name: str) -> object:
        """Load a public name from its room."""
        if name not in _PUBLIC:
            raise AttributeError(f"module 'mpinet' has no attribute '{name}'")
        room = import_module(_PUBLIC[name])
        return room if _PUBLIC[name] == f"{__name__}.{name}" else getattr(room, name)


def __dir__() -> list[str]:
    """List the names that completion offers."""
    return sorted(__all__)
