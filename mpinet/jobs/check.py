"""``mpinet check``: check the rules of a network for consistency."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from mpinet.commands.check import CheckOptions
from mpinet.commands.job import Job, NetworkJob, Watch
from mpinet.machine.transport import Local
from mpinet.networks import check as checked
from mpinet.networks import open as open_topology
from mpinet.report.rows import Row
from mpinet.report.tables import fields


def prepare(options: CheckOptions) -> Job:
    """Open the network, and return the job that checks its rules."""
    return Check(open_topology(options.topology), options.seed)


@dataclass(eq=False, repr=False)
class Check(NetworkJob):
    """A network to check against the topology contract."""

    _seed: int

    def run(self, transport: Local, watch: Watch) -> Row:
        """Check all nodes, or a random sample of a large network."""
        return asdict(checked(self.network, seed=self._seed))

    def show(self, result: Row) -> str:
        """Format the number of checked nodes and ports; all ports of these nodes are checked."""
        looked_at = {name: result[name] for name in ("nodes", "ports", "addresses", "routes")}
        everywhere = "all of it" if result["exhaustive"] else "a sample drawn by the seed"
        return fields(
            {"topology": result["topology"], "looked at": everywhere}
            | {f"{name} tried": count for name, count in looked_at.items()}
        )
