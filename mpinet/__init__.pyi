"""The public names of the package: type checkers and the package itself read them here."""

from mpinet import bench as bench
from mpinet import certify as certify
from mpinet import measure as measure
from mpinet import schedule as schedule
from mpinet.base.version import __version__ as __version__
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

__all__: list[str]
