"""``mpinet show``: tell what a network is."""

from __future__ import annotations

import argparse
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, BinaryIO, TypeVar

from mpinet.base.files import require_writable, whole_file
from mpinet.commands.fields import Count, Fields, Hash, Range, When
from mpinet.commands.forms import OneNode
from mpinet.commands.job import Job, Watch
from mpinet.commands.opening import Network, mapping_of, topology_of
from mpinet.commands.options import Common, File, OnHosts, SavedOften
from mpinet.commands.perform import perform
from mpinet.commands.result import Result
from mpinet.commands.signature import Unpack, command
from mpinet.errors import UsageError
from mpinet.machine.transport import Local
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row
from mpinet.report.tables import fields

T = TypeVar("T")

MOST_FLOODED = 2**16
"""Nodes up to which each floods, also where all are alike."""

Measured = Annotated[T, When("with ``--distances``, by flooding the machine,")]
OfHosts = Annotated[T, When("with switches and ``--distances``, over the processors alone,")]
Sampled = Annotated[T, When("with ``--sample``, over all nodes,")]


class Interval(Fields):
    """Interval in which the mean of all distances is with a confidence, by nodes drawn."""

    lower: float
    upper: float


class ShowResult(Result):
    """Result of ``show``."""

    size: Count
    ports: Count
    links: Count
    degree_histogram: Annotated[dict[str, Count], "numbers of nodes by degree"]
    capacities: Annotated[
        dict[str, Count], "numbers of links by messages a step", When("with parallel links,")
    ]
    edges_sha256: Hash
    stated: Annotated[dict[str, Any], "values by name"]
    ignored: Annotated[list[str], "parts of the file", When("where a file says more")]
    hosts: Annotated[Count, When("with switches")]
    busses: Annotated[Count, When("on busses")]
    incidence_sha256: Annotated[Hash, When("on busses")]
    diameter: Measured[Count]
    distance_sum: Annotated[Measured[Count], "over ordered pairs"]
    average_distance: Measured[float]
    host_diameter: OfHosts[Count]
    host_distance_sum: OfHosts[Count]
    average_host_distance: OfHosts[float]
    diameter_range: Sampled[Range]
    average_estimate: Annotated[Sampled[float], "over ordered pairs from the nodes drawn"]
    average_range: Sampled[Interval]
    confidence: Annotated[Sampled[float], "1 where all pairs count"]
    sources: Annotated[Sampled[Count], "nodes drawn"]
    floods: Annotated[Sampled[Count], "one node each"]
    exact: Annotated[Sampled[list[str]], "of diameter, average"]


@command(OneNode, SavedOften, Common)
def show(
    topology: Network,
    *,
    distances: bool = False,
    sample: int | None = None,
    exact: bool = False,
    edges: File | None = None,
    **options: Unpack[OnHosts],
) -> ShowResult:
    """Tell what a network is: size, degrees, links (collective).

    Parameters
    ----------
    distances : bool
        Whether to measure distances by floods from all nodes: each rank makes its share of them on
        a machine of its own, and their steps count nowhere.
    sample : int, optional
        Nodes to draw by the seed, whose floods estimate the mean distance; at most as many other
        nodes flood to bring the bounds of the diameter together. Where all nodes are alike, one
        flood tells both exactly.
    exact : bool
        Whether nodes flood until the diameter is exact, in ``--sample``.
    edges : path, optional
        File for the links: .graphml, .dot, .anynet (BookSim), .csv, or lines ``u v`` (.txt,
        .edges).

    Returns
    -------
    Result
        FILE: ``.graphml``, ``.dot``, ``.anynet`` (BookSim), ``.csv``, or lines ``u v`` (``.txt``,
        ``.edges``). With ``--node`` what ``neighbors`` gives.

    Examples
    --------
    ``mpinet show torus:8x8 --distances``

    ``mpinet show torus:8x8 --node 3,5``

    >>> import mpinet
    >>> mpinet.show("hypercube:10").links
    5120
    """
    return perform(show, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Check that the links can be written, and that options have an effect."""
    topology = topology_of(options)
    if options.edges is not None:
        from mpinet.report.graphfiles import require_graph_file

        options.edges = Path(options.edges)
        require_graph_file(options.edges)
        require_writable(options.edges)
    if options.sample is not None and options.distances:
        raise UsageError("--sample estimates what --distances measures: name one of them.")
    if options.sample is not None and options.sample < 2:
        raise UsageError(f"--sample takes 2 nodes or more, not {options.sample}.")
    if options.exact and options.sample is None:
        raise UsageError("--exact does not apply without --sample.")
    if options.mapping != "blocks" and not options.distances and options.sample is None:
        raise UsageError(f"--mapping {options.mapping} does not apply without --distances.")
    return Show(options, topology)


class Show(Job):
    """Measurement of a network, from its rules and by flooding."""

    unit = "sources"

    def __init__(self, options: argparse.Namespace, topology: Topology):
        super().__init__()
        self.topology = topology.name
        self._options = options
        self._network = topology

    def run(self, transport: Local, watch: Watch) -> Row:
        """Look at every node's ports, and flood if that is wanted."""
        from mpinet.measure.wiring import capacities, degree_histogram
        from mpinet.report.graphfiles import written_edges
        from mpinet.report.wiring import bus_measures

        network = self._network
        if self._options.distances:
            from mpinet.programs.flood import require_floods

            require_floods(network, transport.size)
        degrees = degree_histogram(network, transport)
        result: Row = {
            "size": network.size,
            "ports": network.ports,
            "links": sum(degree * count for degree, count in degrees.items()) // 2,
            "degree_histogram": degrees,
        }
        if network.links and network.most_wired > 2 * result["links"]:
            joined = capacities(network, transport)
            result |= {"capacities": joined} if joined.keys() != {1} else {}
        if network.hosts != network.size:
            result["hosts"] = network.hosts
        with self._edges_file(transport.rank) as file:
            digest = written_edges(network, transport, self._options.edges, file)
            result["edges_sha256"] = digest
        if not network.links:
            result |= bus_measures(network, transport)
        if self._options.distances:
            result |= self._distances(transport, watch)
        if self._options.sample is not None:
            result |= self._estimate(transport)
        result["stated"] = network.stated
        return result | ({"ignored": [*network.ignored]} if network.ignored else {})

    def needs(self, ranks: int) -> int:
        """Return the bytes that floods from all nodes need, or those from some."""
        if self._options.sample is not None:
            from mpinet.measure.nearing import needed

            return needed(self._network.size, self._network.ports, ranks)
        if not self._options.distances:
            return 0
        from mpinet.programs.flood import floods_need, require_end

        require_end(self._network, ranks)
        return floods_need(self._network, ranks)

    @property
    def title(self) -> str:
        """Name of the run in sentences."""
        return f"A flood of {self.topology} from each of its nodes"

    def _edges_file(self, rank: int) -> AbstractContextManager[BinaryIO | None]:
        wanted = self._options.edges is not None and rank == 0
        return whole_file(self._options.edges) if wanted else nullcontext()

    def _distances(self, transport: Local, watch: Watch) -> Row:
        from mpinet.machine import Machine
        from mpinet.machine.state import State
        from mpinet.programs.bounds import host_distances
        from mpinet.programs.flood import distances

        if self._network.size > MOST_FLOODED and (alike := self._alike(transport)) is not None:
            return alike
        mapping = mapping_of(self._options, self._network, transport)
        machine = Machine(self._network, "all", transport, mapping)
        self.model = machine.model.as_json()
        with State(machine, "show") as state:
            measured: Row = state.once("distances", lambda: asdict(distances(machine, watch)))
            if self._network.hosts == self._network.size:
                return measured
            hosts, total = self._network.hosts, host_distances(machine)
        return measured | {
            "host_diameter": total.diameter,
            "host_distance_sum": total.total,
            "average_host_distance": total.total / max(1, hosts * (hosts - 1)),
        }

    def _alike(self, transport: Local) -> Row | None:
        """Measure distances from one node, if all are alike."""
        from mpinet.measure.distance import Floods, extent_of

        alike = Floods(self._network, transport=transport).alike
        if alike is None:
            return None
        found = extent_of(alike)
        average = found.distance_sum / found.pairs
        return {
            "diameter": found.diameter,
            "distance_sum": found.distance_sum,
            "average_distance": average,
        }

    def _estimate(self, transport: Local) -> Row:
        """Measure distances from some nodes."""
        from mpinet.measure.distance import Floods
        from mpinet.measure.sampling import CONFIDENCE, estimated

        draws, options = self._options.sample, self._options
        mapping = mapping_of(options, self._network, transport)
        floods = Floods(self._network, transport=transport, mapping=mapping)
        self.model = floods.machine.model.as_json()
        most = None if options.exact else draws
        found = estimated(floods, draws, CONFIDENCE, most, options.seed)
        return {
            "diameter_range": {"lower": found.diameter_lower, "upper": found.diameter_upper},
            "average_estimate": found.average,
            "average_range": {"lower": found.average_lower, "upper": found.average_upper},
            "confidence": found.confidence,
            "sources": found.sources,
            "floods": found.floods,
            "exact": found.exact,
        }

    def show(self, result: Row) -> str:
        """Format the measures, with the paper's statements beside them."""
        stated = result["stated"]
        measured = {
            name: f"{value}   (stated: {stated[name]})" if name in stated else value
            for name, value in result.items()
            if name not in ("stated", "ignored")
        }
        for name in ("degree_histogram", "capacities"):
            if name in result:
                measured[name] = "  ".join(f"{d}: {n}" for d, n in result[name].items())
        for name in ("diameter_range", "average_range"):
            if name in result:
                measured[name] = "{lower} to {upper}".format(**result[name])
        if "exact" in result:
            measured["exact"] = ", ".join(result["exact"]) or "nothing: bounds and an estimate"
        others = {f"stated {name}": stated[name] for name in stated if name not in result}
        notes = "".join(f"\nignored: {note}" for note in result.get("ignored", ()))
        return f"{self.topology}\n{fields(measured | others)}{notes}"
