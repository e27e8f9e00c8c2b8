"""The table of collectives: programs, help, result fields and algorithms of each collective.

Programs are named as ``module:function``, so help and parser load none of them.
`mpinet.jobs.collectives` calls the functions with the options that their parameters name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class CollectiveProgram(NamedTuple):
    """Functions of a program, each as ``module:function``.

    A parameter has the name of an option, a name in `finds`, or one of these names: `topology`,
    `model`, `half_duplex`, `machine`, `dry`, `share` (`mpinet.programs.needs.LargestShare`),
    `collective`.
    """

    run: str
    """Moves the items on a machine; returns a `mpinet.programs.collective.CollectiveOutcome`."""
    require: str
    """Checks the options before a machine exists, and raises an error if the collective cannot run;
    returns the values named in `finds`."""
    needs: str
    """Returns the bytes that a rank with a given share of the network needs."""
    once: str = ""
    """Returns the part of these bytes that only one rank needs, for example for the queue at a
    root."""
    finds: tuple[str, ...] = ("algorithm",)
    """Names of the values that `require` returns."""
    chooses: bool = False
    """True if `run` compares algorithms itself and needs the options unchanged."""
    rehearse: str = ""
    """Runs one rank of many on one process, for ``mpinet predict``."""


class CollectiveRow(NamedTuple):
    """Table row of a collective."""

    said: str
    """Description in ``mpinet --help``."""
    one: CollectiveProgram | None = None
    """Program for one item; None: a pipeline of one item."""
    many: CollectiveProgram | None = None
    """Program for several items, and for switches with ``--switches forward``."""
    default: str = ""
    """Default of ``--algorithm``, in words."""
    also: str = ""
    """Name of the collective in MPI."""
    is_listed: bool = True
    """True if ``mpinet --help`` lists the command."""
    is_planned_in_parts: bool = False
    """True if the pipeline also runs the collective in a group, in a network with faults, and in
    the comparison run without faults."""
    shows: tuple[str, ...] = ()
    """Result fields of this collective, in addition to those of all collectives."""
    hides: tuple[str, ...] = ()
    """Result fields that are present only with several items."""
    notes: Mapping[str, str] = {}
    """Notes on result fields, which replace the notes of the result class."""


def _own(name: str, **more: Any) -> CollectiveProgram:
    """Return the program for one item; its module and functions are named after the collective."""
    place = f"mpinet.programs.{name}"
    functions: dict[str, Any] = {
        "run": f"{place}:{name}",
        "require": f"{place}:require_algorithm",
        "needs": f"mpinet.programs.needs:{name}",
    }
    return CollectiveProgram(**functions | more)


PIPELINE = CollectiveProgram(
    run="mpinet.programs.pipelines.collectives:move_items",
    require="mpinet.jobs.programs:require_pipeline",
    needs="mpinet.programs.needs:pipeline",
    finds=("items", "twice", "along"),
    chooses=True,
)

MULTICAST = CollectiveProgram(
    run="mpinet.programs.multicast:multicast",
    require="mpinet.programs.multicast:row_of",
    needs="mpinet.programs.needs:multicast",
    finds=("row",),
)

ROOTED = {
    "require": "mpinet.programs.gather:require_algorithm",
    "needs": "mpinet.programs.needs:from_or_to_one",
    "once": "mpinet.programs.needs:at_root",
}

SEVERAL = ("items", "bandwidth", "skipped")
"""Result fields of pipelines of several items."""

SUM = (*SEVERAL, "operator", "value")
"""Result fields of reductions."""

COLLECTIVES = {
    "broadcast": CollectiveRow(
        "broadcast one-port from one processor (bcast)",
        _own(
            "broadcast",
            finds=("algorithm", "schedule"),
            rehearse="mpinet.programs.rehearsal.broadcast:rehearse_broadcast",
        ),
        PIPELINE,
        default="the network's own schedule, else the first that applies",
        also="bcast",
        shows=(*SEVERAL, "informed", "schedule_sha256"),
        hides=("correct",),
        notes={
            "lower_by": "distance; growth; ends (messages that a processor must send or accept); "
            "hops (hops of all items over all channels); joint (demand of several groups across "
            "a cut); or cut, flow, which have certificates"
        },
    ),
    "gossip": CollectiveRow(
        "bring the items of all processors to all processors (allgather)",
        _own("gossip", chooses=True),
        PIPELINE,
        default="the fewest steps on links, else the first of cycle, tree, routed that applies",
        also="allgather",
        is_planned_in_parts=True,
        shows=(*SEVERAL, "by_orbit"),
    ),
    "scatter": CollectiveRow(
        "bring a different item from one processor to each other processor",
        _own("scatter", **ROOTED),
        default="the first of these that applies",
    ),
    "gather": CollectiveRow(
        "bring an item from each processor to one processor",
        _own("gather", **ROOTED),
        default="the first of these that applies",
    ),
    "exchange": CollectiveRow(
        "bring a different item from each processor to each other processor (alltoall)",
        # One of the algorithms follows a routing, and the routing must be opened before the run.
        _own(
            "exchange",
            require="mpinet.jobs.programs:require_exchange",
            finds=("algorithm", "routing"),
        ),
        PIPELINE,
        default="routed",
        also="alltoall",
        shows=SEVERAL,
    ),
    "reduce": CollectiveRow(
        "combine the items of all processors at one processor",
        # The port model of the broadcast is also reversed: a processor receives on the ports on
        # which the broadcast sends.
        _own(
            "reduce",
            require="mpinet.jobs.programs:require_reduction",
            finds=("algorithm", "schedule"),
        ),
        PIPELINE,
        default="the network's own broadcast in reverse, else the first that applies",
        shows=SUM,
    ),
    "allreduce": CollectiveRow(
        "combine the items of all processors; all processors get the result",
        many=PIPELINE,
        shows=SUM,
    ),
    "reducescatter": CollectiveRow(
        "combine items of all processors; each processor gets its own part (reduce_scatter)",
        many=PIPELINE,
        also="reduce_scatter",
        shows=SUM,
    ),
    "circulate": CollectiveRow(
        "send every item through all processors of its subcube",
        _own("circulate", require="mpinet.jobs.programs:require_circulation", finds=("schedule",)),
        is_listed=False,
    ),
}
"""All collectives, in the order of ``mpinet --help``."""


class AlgorithmRow(NamedTuple):
    """Table row of a general algorithm, which belongs to no particular network."""

    name: str
    """Name of the algorithm."""
    one: tuple[str, ...]
    """Collectives of one item that the algorithm serves."""
    many: tuple[str, ...] = ()
    """Collectives of several items that the algorithm serves."""
    where: str = ""
    """Machines for which the algorithm works, in words."""
    fetches: bool = False
    """True if processors fetch items through switches, so the pipeline runs the algorithm."""


_SPREAD, _ALL = ("broadcast", "reduce"), ("gossip",)
_TO_OR_FROM_ONE = ("scatter", "gather")
_PIPELINES = (*_SPREAD, "gossip", "allreduce", "reducescatter")

ALGORITHMS = (
    AlgorithmRow("cycle", _ALL, _PIPELINES, "a Hamiltonian cycle; several items: one port"),
    AlgorithmRow("passes", _SPREAD, where="a search"),
    AlgorithmRow("tree", (*_SPREAD, *_ALL, *_TO_OR_FROM_ONE), where="links"),
    AlgorithmRow("floodtree", _SPREAD, where="links"),
    AlgorithmRow("flooding", _SPREAD, where="busses"),
    AlgorithmRow("best", _SPREAD[:1], where="the shortest of all"),
    AlgorithmRow("routed", (*_ALL, *_TO_OR_FROM_ONE, "exchange")),
    AlgorithmRow("flow", _TO_OR_FROM_ONE, where="the fewest steps"),
    AlgorithmRow(
        "farthest", ("exchange",), ("exchange",), "links: farthest target first, in few steps"
    ),
    AlgorithmRow("matching", _ALL, _PIPELINES, "one port"),
    AlgorithmRow("rarest", _ALL, _PIPELINES, "all ports", fetches=True),
    AlgorithmRow("trees", _ALL, _PIPELINES, "links, all ports"),
    AlgorithmRow("dimensions", (), ("allreduce",), "one after the other, as in recursive doubling"),
    AlgorithmRow("paths", _ALL, _PIPELINES, "through switches that forward", fetches=True),
    AlgorithmRow(
        "translations",
        _ALL,
        where="links, on vertex-transitive networks: one processor's messages, translated to all",
    ),
)
"""All algorithms, in the order of the help."""


def algorithm_help(collective: str) -> str:
    """Return the help of ``--algorithm``: the algorithms for one item, then those for several.

    Examples
    --------
    >>> algorithm_help("scatter")
    'Algorithm: tree (links), routed, flow (the fewest steps); default: the first of these that \
applies.'
    """
    one = [_listed(row) for row in ALGORITHMS if collective in row.one]
    # The list of algorithms for one item already states each algorithm's condition. Here the name
    # is enough.
    many = [
        row.name if collective in row.one else _listed(row)
        for row in ALGORITHMS
        if collective in row.many
    ]
    of_several = f"{', '.join(many)}; default: the fewest steps."
    if not one:
        return f"Algorithm: {of_several}"
    text = f"Algorithm: {', '.join(one)}; default: {COLLECTIVES[collective].default}."
    return f"{text} Several items: {of_several}" if many else text


def _listed(row: AlgorithmRow) -> str:
    """Return an algorithm's name and condition, as the help lists them."""
    return f"{row.name} ({row.where})" if row.where else row.name


def fetching() -> tuple[str, ...]:
    """Return the names of the algorithms whose processors fetch items through switches."""
    return tuple(row.name for row in ALGORITHMS if row.fetches)
