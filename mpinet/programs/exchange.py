"""Total exchange: an item from every processor to every other, by routing or farthest first."""

from __future__ import annotations

from mpinet.machine import Machine
from mpinet.machine.model import PortModel
from mpinet.networks.routing import Routing
from mpinet.networks.topology import Topology
from mpinet.programs.bounds import Bound, exchange_bound
from mpinet.programs.collective import CollectiveOutcome, choose, require_few
from mpinet.programs.cuts import best_cut
from mpinet.programs.farthest import farthest_timetable
from mpinet.programs.kinds import Purpose
from mpinet.programs.playing import play_rows
from mpinet.programs.routed import ROUTED, route_chunks

FARTHEST = "farthest"
"""Name of the algorithm that searches the whole network."""

MOST_PROCESSORS = {ROUTED: 2**12, FARTHEST: 2**8}
"""Maximum number of processors per algorithm: 2^24 simultaneous messages for the router."""


def exchange(
    machine: Machine,
    routing: Routing | None = None,
    seed: int = 0,
    algorithm: str | None = None,
) -> CollectiveOutcome:
    """Bring an item of every processor to every other, one per message (collective).

    ``routed``: all messages are injected in step 0. In round k processor s sends to s + k (mod N),
    and messages of lower rounds have priority. ``farthest`` (links): items take shortest paths,
    those with the farthest target first. The lower bound of ``farthest`` is the best cut.

    Parameters
    ----------
    machine : Machine
        Runs the steps, enforces the port model and counts.
    routing : Routing, optional
        Routing of the router; default: the network's first.
    seed : int
        Seed of the items' contents.
    algorithm : str, optional
        Default: ``"routed"``.

    Raises
    ------
    UsageError
        The network has too many processors, or the algorithm is not available.

    Examples
    --------
    >>> found = exchange(Machine("ring:5", "one"))
    >>> found.steps, found.messages, found.lower_bound, found.correct
    (6, 30, 6, True)
    """
    name = require_algorithm(machine.topology, algorithm, machine.model)
    if name == FARTHEST:
        return _farthest_first(machine, seed)
    purpose = Purpose("exchange", machine.topology.hosts)
    bound = exchange_bound(machine)
    spent, correct = route_chunks(machine, purpose, seed, routing)
    return CollectiveOutcome.of(name, spent, bound, correct)


def require_algorithm(topology: Topology, algorithm: str | None, model: PortModel) -> str:
    """Return the algorithm of a total exchange.

    Raises
    ------
    UsageError
        The algorithm is not available, or the network has too many processors for it.
    """
    offered = [ROUTED]
    limits = model.send, model.receive, model.half_duplex
    if topology.links and limits in ((1, 1, False), (None, None, False)):
        offered.append(FARTHEST)
    name = choose(topology, "total exchange", algorithm, offered)
    what = "Total exchange" if name == ROUTED else f"Total exchange {name!r}"
    instead = ": it keeps an item for each pair (mpinet route --pairs random:N samples pairs)"
    require_few(topology, what, MOST_PROCESSORS[name], instead)
    return name


def _farthest_first(machine: Machine, seed: int) -> CollectiveOutcome:
    """Run the timetable of a farthest-first search."""
    topology, bound = machine.topology, exchange_bound(machine)
    cut = best_cut(topology, machine.model, "exchange")
    if cut is not None:
        bound = max(bound, Bound(cut.steps, "cut"))
    timetable = farthest_timetable(topology, machine.model.send == 1, bound)
    spent, held = play_rows(machine, timetable, seed, checked=False)
    return CollectiveOutcome.of(FARTHEST, spent, bound, held.short() == 0)
