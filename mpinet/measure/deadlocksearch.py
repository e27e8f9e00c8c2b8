"""Search for a small traffic that deadlocks, to show the effect of a dependency cycle in a run.

A routing whose channel dependency graph has no cycle never deadlocks (see `deadlock`). A routing
with a cycle can deadlock, unless its messages cannot occupy their channels at the same time. The
search therefore tries messages. The first attempt has one message per dependency of the cycle; all
messages reach their channels in the same step. Further attempts use several messages per dependency
at random times, then messages of all processors. The traffic of a deadlock is then reduced by
leaving out unnecessary messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from mpinet.base.arrays import Ints, Table, Tables
from mpinet.base.fielddocs import described
from mpinet.compiled import inlined
from mpinet.draws import draw32, scaled
from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.machine.traffic.parameters import Buffering, Generation, Window
from mpinet.machine.traffic.run import OpenLoop
from mpinet.machine.transport import alone
from mpinet.measure.deadlock import counted_classes, settled, shortest_dependency_cycle
from mpinet.measure.pairs import Pairs, as_routing
from mpinet.networks.catalogue import open_topology
from mpinet.networks.classes import ChannelClasses
from mpinet.networks.routing import Routing
from mpinet.networks.topology import NetworkLike, Topology
from mpinet.networks.walks import rules, walk
from mpinet.programs.patterns import in_order, pattern_of

STREAM = 22
"""Stream number of the random draws."""

POOL = 8
"""Number of stored pairs of processors per dependency: the pairs that reach it first."""

DRAWN_RUNS, FLOODED_RUNS, CUTTING_RUNS = 96, 1024, 256
"""Largest numbers of runs: with random messages for the cycle's dependencies, with messages of all
processors, and to leave out messages.
"""

MOST_MESSAGES = 4096
"""Largest number of messages of a run."""

LENGTHS = (1, 2, 4, 8)
"""Lengths of random messages, in multiples of the buffer size."""


@described
@dataclass(frozen=True)
class DeadlockSearch:
    """Result of a search for a deadlock."""

    verdict: str
    """``"free"``: there is no cycle of dependencies, and therefore no deadlock; ``"deadlock"``: the
    listed messages deadlock; ``"none found"``: there is a cycle, but no tried traffic deadlocks.
    """
    routing: str
    """Name of the routing."""
    classes: str
    """Rule that assigns each message a class of channels."""
    vcs: int
    """Number of virtual channels per link."""
    buffers: int
    """Buffer size of each virtual channel, in flits (wormhole switching)."""
    dependencies: list[tuple[int, ...]] = field(default_factory=list)
    """A shortest cycle of channels that depend on each other. Type: list of (node, port, class)."""
    runs: int = 0
    """Number of runs."""
    last_move: int | None = None
    """Last step in which a flit moved."""
    cycle: list[tuple[int, int, int]] = field(default_factory=list)
    """Channels of the deadlocked machine, each waiting for the next. Type: list of (node, port,
    vc).
    """
    messages: list[dict[str, int]] = field(default_factory=list)
    """Traffic of the deadlock: step, source, target and flits of each message, in the format of a
    CSV file for `load`.
    """
    replay: str | None = None
    """Command that runs this traffic."""


def find_deadlock(
    topology: NetworkLike,
    routing: Routing | str | None = None,
    classes: str | None = None,
    vcs: int | None = None,
    buffers: int = 4,
    seed: int = 0,
) -> DeadlockSearch:
    """Search for a small traffic that deadlocks under wormhole switching (collective).

    Without a cycle of dependencies there is no search. A cycle alone does not imply a deadlock: if
    no tried traffic deadlocks, the verdict is ``none found``.

    Parameters
    ----------
    topology : Topology or str
        The network; links or busses.
    routing : Routing or str, optional
        Default: the network's first. Routings available only in `load` (``adaptive``) are selected
        by name.
    classes : str, optional
        The class rule. Default: the default rule of `load`.
    vcs : int, optional
        Number of virtual channels per link. Default: one per class.
    buffers : int
        Buffer size of a virtual channel, in flits.
    seed : int
        Seed of the random messages.

    Returns
    -------
    DeadlockSearch
        The result, the same on any number of ranks.

    Raises
    ------
    UsageError
        The classes do not exist, or the virtual channels cannot be divided among them.

    Examples
    --------
    Datelines keep a ring free of deadlock; with a single class four messages are enough to stop it:

    >>> find_deadlock("ring:4").verdict
    'free'
    >>> found = find_deadlock("ring:4", classes="none")
    >>> found.verdict, found.cycle
    ('deadlock', [(0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0)])
    >>> found.messages[0]
    {'step': 0, 'source': 0, 'target': 2, 'flits': 8}
    """
    network = open_topology(topology)
    chosen = settled(network, _routing(network, routing, seed))
    counted = counted_classes(network, chosen, classes)
    vcs = counted.count if vcs is None else vcs
    if buffers < 1 or vcs % counted.count:
        raise UsageError(
            f"{counted.name} has {counted.count} classes: vcs={vcs} must be a multiple of "
            f"{counted.count}, and buffers={buffers} 1 or more."
        )
    buffering = Buffering(vcs=vcs, buffers=buffers)
    known = DeadlockSearch("free", chosen.name, counted.name, vcs, buffers)
    cycle = shortest_dependency_cycle(network, chosen, counted)
    if cycle is None:
        return known
    # Every rank runs the same small traces by itself. Distributed over ranks, each step would cost
    # an exchange.
    with alone():
        search = _TraceSearch(network, chosen, counted, buffering, seed)
        rows = search.found(cycle)
    return _told(known, network, search, cycle, rows)


def _routing(network: Topology, routing: Routing | str | None, seed: int) -> Routing:
    """Return a routing of the network, or for load alone, given as an object or by name."""
    if isinstance(routing, str):
        return network.routing(routing, seed)
    return as_routing(network, routing)


def _told(
    known: DeadlockSearch, network: Topology, search: _TraceSearch, cycle: Any, rows: Table | None
) -> DeadlockSearch:
    """Return the result of a search, with the traffic of the deadlock if one was found."""
    same = known.routing, known.classes, known.vcs, known.buffers, cycle
    if rows is None:
        return DeadlockSearch("none found", *same, search.runs)
    run = search.run(rows)
    return DeadlockSearch(
        "deadlock",
        *same,
        search.runs,
        int(run.ledger.last_move),
        [(each["node"], each["port"], each["vc"]) for each in run.cycle()],
        [
            dict(zip(("step", "source", "target", "flits"), row, strict=True))
            for row in rows.tolist()
        ],
        f"mpinet load {network.name} --pattern FILE.csv --routing {known.routing} "
        f"--classes {known.classes} --vcs {known.vcs} --buffers {known.buffers}",
    )


class _TraceSearch:
    """Runs traces on one process until a trace deadlocks."""

    def __init__(
        self,
        network: Topology,
        routing: Routing,
        classes: ChannelClasses,
        buffering: Buffering,
        seed: int,
    ):
        self._network, self._routing, self._classes = network, routing, classes
        self._buffering, self._seed = buffering, seed
        self._pattern = pattern_of(network, "uniform")
        self._draws = 0
        self.runs = 0

    def run(self, rows: Table) -> OpenLoop:
        """Run a trace to its end."""
        self.runs += 1
        generation = Generation(self._pattern.rule, self._pattern.params, rows=rows)
        window = Window(0, int(rows[:, 0].max()) + 1, 2**24)
        made = (self._routing, self._classes, self._buffering, generation, window, self._seed)
        return OpenLoop(Machine(self._network), *made).run()

    def stops(self, rows: Table) -> bool:
        """Return whether a trace deadlocks."""
        return bool(self.run(rows).cycle())

    def found(self, cycle: list[tuple[int, ...]]) -> Table | None:
        """Return a small trace that deadlocks; None if no tried trace deadlocks."""
        for rows in self._tried(cycle):
            if self.stops(rows):
                return self._cut_down(rows)
        return None

    def _tried(self, cycle: list[tuple[int, ...]]) -> Iterator[Table]:
        """Yield the traces to try, the most promising first."""
        pools: list[Table] = []
        if not self._routing.adaptive:
            pools = users(self._network, self._routing, self._classes, cycle)
            # One message per dependency, all in place at the same step, is the smallest traffic
            # that can deadlock.
            yield self._timed([pool[0] for pool in pools])
            for _ in range(DRAWN_RUNS):
                yield self._drawn(pools)
        for _ in range(FLOODED_RUNS):
            yield self._flooded()

    def _timed(self, chosen: list[Ints]) -> Table:
        """Return one message per dependency, timed to hold all channels in the same step."""
        # Messages with longer paths start earlier, so all messages hold their channels in the same
        # step.
        latest = max(int(hops) for hops, _, _ in chosen)
        # A message must be longer than a buffer. Otherwise it fits into the next buffer and
        # releases its channel.
        flits = 2 * self._buffering.buffers
        return self._rows([(latest - hops, u, v, flits) for hops, u, v in chosen])

    def _drawn(self, pools: list[Table]) -> Table:
        """Return random messages for each dependency."""
        latest, rows = 1 + self._draw(4 * len(pools)), []
        length = self._length()
        for pool in pools:
            for _ in range(1 + self._draw(2 * self._buffering.vcs // self._classes.count)):
                _, source, target = pool[self._draw(len(pool))].tolist()
                rows.append((self._draw(latest), source, target, length))
        return self._rows(rows)

    def _flooded(self) -> Table:
        """Return random messages of every processor."""
        hosts, length = self._network.hosts, self._length()
        each = 1 + self._draw(max(1, min(2 * self._buffering.vcs, MOST_MESSAGES // hosts)))
        rows = [(0, u, self._draw(hosts), length) for u in range(hosts) for _ in range(each)]
        return self._rows(rows)

    def _length(self) -> int:
        return LENGTHS[self._draw(len(LENGTHS))] * self._buffering.buffers

    def _draw(self, count: int) -> int:
        self._draws += 1
        return scaled(draw32(self._seed, self._draws, 0, STREAM), count)

    def _rows(self, rows: list[tuple[int, int, int, int]]) -> Table:
        return in_order(np.array(rows[:MOST_MESSAGES], np.int64))

    def _cut_down(self, rows: Table) -> Table:
        """Leave out messages while the deadlock remains: first half of all, at last single ones."""
        # Delta debugging (Zeller): halves first, single messages last. A witness of a few messages
        # can be read and checked by hand.
        end, part = self.runs + CUTTING_RUNS, len(rows) // 2
        while part:
            begin = 0
            while begin < len(rows) and self.runs < end:
                fewer = np.concatenate([rows[:begin], rows[begin + part :]])
                if len(fewer) and self.stops(fewer):
                    rows = fewer
                else:
                    begin += part
            part //= 2
        return rows


def users(
    network: Topology, routing: Routing, classes: ChannelClasses, cycle: list[tuple[int, ...]]
) -> list[Table]:
    """Find messages that cause each dependency of a cycle.

    Parameters
    ----------
    network, routing, classes
        The network, its routing, and the classes of channels.
    cycle : list of (node, port, class)
        Channels, each waiting for the next, the last for the first.

    Returns
    -------
    list of ndarray of int64, shape (k, 3)
        Rows (hops before the held channel, source, target), ascending by hops, then in the order of
        the pairs; at most `POOL` rows per dependency.
    """
    places = np.full(network.size * network.ports * classes.count, -1, np.int64)
    for i, (node, port, group) in enumerate(cycle):
        places[(node * network.ports + port) * classes.count + group] = i
    known = np.full((len(cycle), POOL, 3), -1, np.int64)
    for sources, targets in Pairs(network).parts():
        ends = sources.copy(), targets.copy()
        note_users(rules(network, routing, classes), *ends, Users(places, known))
    return [pool[pool[:, 0] >= 0] for pool in known]


class Users(NamedTuple):
    """Arguments and results of `note_users`: positions of channels in the cycle, and messages."""

    places: Ints
    known: Tables


@inlined
def note_user(visit, header, notes):
    """Record a message that holds a channel of the cycle and needs the next."""
    places = notes.places
    held = places[visit.held] if visit.held >= 0 else np.int64(-1)
    if held >= 0 and places[visit.channel] == (held + 1) % notes.known.shape[0]:
        keep(notes.known[held], visit.hops - 1, visit.source, visit.target)
    return False


@inlined
def keep(pool, hops, source, target):
    """Insert a message into a pool sorted by hops, behind messages with equally many hops."""
    row = most = pool.shape[0]
    # Messages that reach the dependency soon are preferred, because they need little timing and
    # pass few other channels.
    while row > 0 and (pool[row - 1, 0] < 0 or pool[row - 1, 0] > hops):
        row -= 1
    for later in range(most - 1, row, -1):
        pool[later] = pool[later - 1]
    if row < most:
        pool[row, 0], pool[row, 1], pool[row, 2] = hops, source, target


note_users = walk.bind("note_users", notes=Users, hop=note_user, CLASSED=True)
