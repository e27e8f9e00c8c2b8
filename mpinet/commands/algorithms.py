"""The table of collectives: what a command, its help, its result and its job know of each.

A program is named by its functions, as ``module:function``: help and parser load none of them.
`mpinet.jobs.collectives` calls them with the options by the names of their parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class CollectiveProgram(NamedTuple):
    """Functions of a program, each as ``module:function``.

    Parameters have the names of options, or one of: `topology`, `model`, `half_duplex`, `machine`,
    `dry`, `share` (`mpinet.programs.needs.LargestShare`), `collective`, and the names in `finds`.
    """

    run: str
    """Moves the items on a machine; returns a `mpinet.programs.collective.CollectiveOutcome`."""
    require: str
    """Refuses before there is a machine what cannot run; returns the values that `finds` names."""
    needs: str
    """Returns the bytes that the rank with a share of the network needs."""
    once: str = ""
    """Returns the bytes of these that one rank alone needs, such as the queue at a root."""
    finds: tuple[str, ...] = ("algorithm",)
    """Names of the values that `require` returns."""
    chooses: bool = False
    """True if `run` compares algorithms itself: it gets the options as they were given."""
    rehearse: str = ""
    """Plays one rank of many, for ``mpinet predict``."""


class CollectiveRow(NamedTuple):
    """Row of a collective."""

    said: str
    """Sentence in ``mpinet --help``."""
    one: CollectiveProgram | None = None
    """Program for one item; None: a pipeline of one item."""
    many: CollectiveProgram | None = None
    """Program for several items, and for switches that only forward."""
    default: str = ""
    """Default of ``--algorithm``, in words."""
    also: str = ""
    """Name of MPI."""
    is_listed: bool = True
    """True if ``mpinet --help`` lists the command."""
    is_planned_in_parts: bool = False
    """True if a part of a network, and a run that is compared with one, get the pipeline."""
    shows: tuple[str, ...] = ()
    """Fields of the result besides those that all collectives have."""
    hides: tuple[str, ...] = ()
    """Fields that a result of one item leaves out."""
    notes: Mapping[str, str] = {}
    """Notes on fields of the result, in place of the class's."""


def _own(name: str, **more: Any) -> CollectiveProgram:
    """Return the program of one item, whose module and functions have the collective's name."""
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

ROOTED = {
    "require": "mpinet.programs.gather:require_algorithm",
    "needs": "mpinet.programs.needs:from_or_to_one",
    "once": "mpinet.programs.needs:at_root",
}

SEVERAL = ("items", "bandwidth", "skipped")
"""Fields of results of several items."""

SUM = (*SEVERAL, "operator", "value")
"""Fields of results of sums."""

COLLECTIVES = {
    "broadcast": CollectiveRow(
        "broadcast one-port from one processor (bcast)",
        _own(
            "broadcast",
            finds=("algorithm", "schedule"),
            rehearse="mpinet.programs.rehearsal.broadcast:rehearse_broadcast",
        ),
        PIPELINE,
        default="a schedule of the network, else the first of these that applies",
        also="bcast",
        shows=(*SEVERAL, "informed", "schedule_sha256"),
        hides=("correct",),
        notes={
            "lower_by": "what shows it: distance, growth, ends: what a processor has to send or "
            "accept, hops: all items' over all channels, joint: what several groups bring over a "
            "cut, or cut, flow, which have certificates"
        },
    ),
    "gossip": CollectiveRow(
        "bring every processor's item to all processors (allgather)",
        _own("gossip", chooses=True),
        PIPELINE,
        default="the fewest steps on links, else the first of cycle, tree and routed that applies",
        also="allgather",
        is_planned_in_parts=True,
        shows=(*SEVERAL, "by_orbit"),
    ),
    "scatter": CollectiveRow(
        "bring a different item from one processor to every other",
        _own("scatter", **ROOTED),
        default="the first of these that applies",
    ),
    "gather": CollectiveRow(
        "bring an item from every processor to one",
        _own("gather", **ROOTED),
        default="the first of these that applies",
    ),
    "exchange": CollectiveRow(
        "bring a different item from every processor to every other (alltoall)",
        # One of its algorithms is led by a routing, which has to be opened before the run.
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
        "combine the items of all processors at one",
        # The port model of the broadcast is turned round, too: a processor receives on the ports on
        # which it will send.
        _own(
            "reduce",
            require="mpinet.jobs.programs:require_reduction",
            finds=("algorithm", "schedule"),
        ),
        PIPELINE,
        default="a broadcast of the network that is run backwards, else the first of these that "
        "applies",
        shows=SUM,
    ),
    "allreduce": CollectiveRow(
        "combine the items of all processors at all of them", many=PIPELINE, shows=SUM
    ),
    "reducescatter": CollectiveRow(
        "combine items of all processors, each at one of them (reduce_scatter)",
        many=PIPELINE,
        also="reduce_scatter",
        shows=SUM,
    ),
    "circulate": CollectiveRow(
        "let every item visit all processors of its subcube",
        _own("circulate", require="mpinet.jobs.programs:require_circulation", finds=("schedule",)),
        is_listed=False,
    ),
}
"""Every collective, in the order of ``mpinet --help``."""


class AlgorithmRow(NamedTuple):
    """Row of an algorithm that is no network's own."""

    name: str
    """Name of the algorithm."""
    one: tuple[str, ...]
    """Collectives of one item that it is for."""
    many: tuple[str, ...] = ()
    """Collectives of several items that it is for."""
    where: str = ""
    """Machines that it is for, in words."""
    fetches: bool = False
    """True if processors fetch items through switches: its program is then the pipeline's."""


_SPREAD, _ALL = ("broadcast", "reduce"), ("gossip",)
_TO_OR_FROM_ONE = ("scatter", "gather")
_PIPELINES = (*_SPREAD, "gossip", "allreduce", "reducescatter")

ALGORITHMS = (
    AlgorithmRow("cycle", _ALL, _PIPELINES, "a Hamiltonian cycle; several items: one port"),
    AlgorithmRow("passes", _SPREAD, where="a search"),
    AlgorithmRow("tree", (*_SPREAD, *_ALL, *_TO_OR_FROM_ONE), where="links"),
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
        where="links, where all processors look alike: one processor's messages, turned to all "
        "others",
    ),
)
"""Every algorithm, in the order in which help lists them."""


def algorithm_help(collective: str) -> str:
    """Return the sentences on ``--algorithm``: the algorithms of one item, and of several.

    Examples
    --------
    >>> algorithm_help("scatter")
    'Algorithm: tree (links), routed, flow (the fewest steps); default: the first of these that \
applies.'
    """
    one = [_listed(row) for row in ALGORITHMS if collective in row.one]
    # The list of algorithms for one item already says where an algorithm serves. Here its name is
    # enough.
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
    """Return an algorithm as help lists it."""
    return f"{row.name} ({row.where})" if row.where else row.name


def fetching() -> tuple[str, ...]:
    """Return the algorithms whose processors fetch items through switches."""
    return tuple(row.name for row in ALGORITHMS if row.fetches)
