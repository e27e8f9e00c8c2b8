"""``mpinet optimum bisection``: the bisection width, with a cut and a certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpinet.commands.job import Watch
from mpinet.commands.optimum import OptimumOptions
from mpinet.errors import OutOfReach, UsageError
from mpinet.jobs.proofs import ProvingJob
from mpinet.measure.libraries import require_library
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row
from mpinet.report.tables import fields

if TYPE_CHECKING:
    from mpinet.machine.transport import Local


LIBRARIES = {"flow": ("igraph", "measure"), "lrat": ("pysat", "optimum")}
"""Library that finds a kind of certificate, and the extra that installs it."""

MOST_LISTED = 12
"""Runs of numbers of a cut that a line shows."""

FOUND = ("lower", "upper", "lower_by", "upper_by", "side", "bounds", "limited")


class WidthOptimum(ProvingJob):
    """Both sides: the narrowest cut that was found, and what shows that none is narrower."""

    open_fields = ("lower", "upper", "lower_by", "upper_by", "exact", "bounds", "side")

    def __init__(self, options: OptimumOptions, topology: Topology):
        super().__init__(options, topology)
        if topology.hosts < 2:
            raise UsageError(f"{topology.name} has one processor: there are no halves.")
        if options.by in LIBRARIES:
            require_library(*LIBRARIES[options.by])

    def run(self, transport: Local, watch: Watch) -> Row:
        """Search on rank 0."""
        from mpinet.measure.optimum.halves import WidthSearch

        options = self.options
        search = WidthSearch(self._network, options.limit, options.by)
        if transport.rank == 0:
            search.run()
        found = self.shared(transport, search, FOUND)
        refused = found.pop("refused")
        if not refused:
            self._require_certificate(found)
        if transport.rank == 0:
            self.save_certificate(options.save, search, self._none_found())
        return {
            "measure": "bisection",
            "network": self.topology,
            "exact": found["lower"] == found["upper"],
            **found,
            **self.refusals(refused),
            "seconds": self.seconds,
        }

    def _require_certificate(self, found: dict[str, Any]) -> None:
        """Raise an error if a certificate was asked for and none was found."""
        by, save = self.options.by, self.options.save
        if found["lower_by"] is not None or (by is None and save is None):
            return
        if found["upper"] == 0:
            raise UsageError(
                f"A cut of {self.topology} parts nothing: there is nothing to certify."
            )
        raise OutOfReach(self._none_found())

    def _none_found(self) -> str:
        """The sentence on a width without a certificate."""
        how = "" if self.options.by is None else f" by {self.options.by}"
        return (
            f"There is no certificate{how} for {self.topology}, or it "
            f"takes more than --limit {self.options.limit:g}."
        )

    def show(self, result: Row) -> str:
        """Format both bounds, with their reasons."""
        lower, upper = result["lower"], result["upper"]
        medium = "links" if self._network.links else "busses"
        lines = {
            "width": f"{upper}   (proved)"
            if result["exact"]
            else f"{lower} .. {upper}   (open: {lower} not decided)",
            "cut": f"{upper} {medium}, found by {result['upper_by']}: nodes "
            f"{runs(result['side'])} on one side",
        }
        if result["lower_by"] is not None:
            lines[f"not {lower - 1}"] = result["lower_by"]
            lines["bounds"] = "   ".join(f"{name} {w}" for name, w in result["bounds"].items())
        return f"bisection width of {self.topology}\n{fields(lines)}"


def runs(numbers: list[int]) -> str:
    """Ascending numbers as ``0-3,8-11``; the first of many."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][-1] + 1:
            found[-1][1:] = [number]
        else:
            found.append([number])
    words = ["-".join(map(str, each)) for each in found[:MOST_LISTED]]
    return ",".join(words) + (",.." if len(found) > MOST_LISTED else "")
