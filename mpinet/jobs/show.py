"""``mpinet show``: describe a network."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

from mpinet.base.files import require_writable, whole_file
from mpinet.commands.job import Job, NetworkJob, Watch
from mpinet.commands.show import ShowOptions
from mpinet.errors import UsageError
from mpinet.jobs.opening import topology_named
from mpinet.machine.choice import open_mapping
from mpinet.machine.transport import Local
from mpinet.report.graphfiles import require_graph_file, written_edges
from mpinet.report.rows import Row
from mpinet.report.tables import fields

MOST_FLOODED = 2**16
"""Largest number of nodes for which every node floods, even if all nodes are alike."""


def prepare(options: ShowOptions) -> Job:
    """Check the file of links and the options, and return the job."""
    topology = topology_named(options.topology)
    if options.edges is not None:
        require_graph_file(Path(options.edges))
        require_writable(Path(options.edges))
    if options.sample is not None and options.distances:
        raise UsageError("--sample estimates, --distances measures: give one of the two.")
    if options.sample is not None and options.sample < 2:
        raise UsageError(f"--sample is 2 nodes or more, not {options.sample}.")
    if options.exact and options.sample is None:
        raise UsageError("--exact does not apply without --sample.")
    if options.mapping != "blocks" and not options.distances and options.sample is None:
        raise UsageError(f"--mapping {options.mapping} does not apply without --distances.")
    return Show(topology, options)


@dataclass(eq=False, repr=False)
class Show(NetworkJob):
    """Measurement of a network, from its rules and by flooding."""

    unit = "sources"

    _options: ShowOptions

    def run(self, transport: Local, watch: Watch) -> Row:
        """Inspect every node's ports, and flood if requested."""
        from mpinet.measure.wiring import capacities, degree_histogram
        from mpinet.report.wiring import bus_measures

        network = self.network
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
            digest = written_edges(network, transport, self._edges, file)
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
        """Return the bytes for floods from all nodes, or from a sample."""
        if self._options.sample is not None:
            from mpinet.measure.nearing import needed

            return needed(self.network.size, self.network.ports, ranks)
        if not self._options.distances:
            return 0
        from mpinet.programs.flood import floods_need, require_end

        require_end(self.network, ranks)
        return floods_need(self.network, ranks)

    @property
    def title(self) -> str:
        """Name of the run in messages."""
        return f"A flood of {self.topology} from each of its nodes"

    def _edges_file(self, rank: int) -> AbstractContextManager[BinaryIO | None]:
        return whole_file(self._edges) if self._edges is not None and rank == 0 else nullcontext()

    @property
    def _edges(self) -> Path | None:
        """File for the links."""
        return None if self._options.edges is None else Path(self._options.edges)

    def _distances(self, transport: Local, watch: Watch) -> Row:
        from mpinet.machine import Machine
        from mpinet.machine.state import State
        from mpinet.programs.bounds import host_distances
        from mpinet.programs.flood import distances

        # If all nodes are alike, one flood gives the distances of all. Small networks flood from
        # every node anyway, and do not rely on symmetry.
        if self.network.size > MOST_FLOODED and (alike := self._alike(transport)) is not None:
            return alike

        mapping = open_mapping(self._options.mapping, self.network, transport, self._options.seed)
        machine = Machine(self.network, "all", transport, mapping)
        self.model = machine.model.as_json()
        with State(machine, "show") as state:
            # Floods from all nodes may take hours. A resumed run reads their result from the
            # checkpoint.
            measured: Row = state.once("distances", lambda: asdict(distances(machine, watch)))
            if self.network.hosts == self.network.size:
                return measured
            hosts, total = self.network.hosts, host_distances(machine)
        return measured | {
            "host_diameter": total.diameter,
            "host_distance_sum": total.total,
            "average_host_distance": total.total / max(1, hosts * (hosts - 1)),
        }

    def _alike(self, transport: Local) -> Row | None:
        """Measure distances from one node if all nodes are alike; else return None."""
        from mpinet.measure.distance import FaultyFloods, extent_of

        alike = FaultyFloods(self.network, transport=transport).alike
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
        """Estimate distances from a sample of nodes."""
        from mpinet.measure.distance import FaultyFloods
        from mpinet.measure.sampling import CONFIDENCE, estimated

        draws, options = self._options.sample or 0, self._options

        mapping = open_mapping(options.mapping, self.network, transport, options.seed)
        floods = FaultyFloods(self.network, transport=transport, mapping=mapping)
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
        """Format the measures, each with the paper's value if known."""
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
