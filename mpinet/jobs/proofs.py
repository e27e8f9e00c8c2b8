"""The job that proves an optimum, and writes certificates with proofs."""

from __future__ import annotations

import json
import lzma
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpinet.base.deadline import deadline
from mpinet.base.files import require_room_beside, require_writable, whole_file, write_text
from mpinet.commands.job import NetworkJob, Watch
from mpinet.commands.optimum import OptimumOptions
from mpinet.errors import UsageError
from mpinet.jobs.fabric import intact
from mpinet.machine.model import PortModel
from mpinet.programs.kinds import ROOTED
from mpinet.report.rows import Row
from mpinet.report.tables import fields

if TYPE_CHECKING:
    from mpinet.machine import Machine
    from mpinet.machine.transport import Local
    from mpinet.measure.optimum.certified import Certified
    from mpinet.networks.members import Members
    from mpinet.programs.schedules.timetable import Timetable

BOTH_SIDES = ("lower", "lower_by", "bounds", "limited")
"""Attributes of every search that rank 0 shares with all ranks."""


def require_certificate_file(file: Path) -> None:
    """Raise `FileError` unless a certificate and its proof can be written here."""
    require_room_beside(file)
    require_writable(_beside(file))


@dataclass(frozen=True)
class Upper:
    """Best schedule of a collective, and the network's own schedule."""

    steps: int
    """Steps of the schedule on the machine."""
    messages: int
    """Messages of the schedule on the machine."""
    by: str
    """Name of the search that found the schedule."""
    correct: bool
    """True if every processor ended with the right items."""
    own: int | None = None
    """Steps of the network's own schedule; None if there is none."""
    own_algorithm: str | None = None
    """Name of the network's own schedule; None if there is none."""


@dataclass(frozen=True)
class Findings:
    """Outcome of a search for an optimum."""

    result: Row
    """Both sides, as the command reports them."""
    certified: Certified
    """Search for the lower bound; complete only on rank 0."""
    table: Callable[[], Timetable] | None = None
    """Function that makes the best schedule, on rank 0; None if no file can hold the schedule."""


@dataclass(frozen=True)
class ProofSearch:
    """A search for an optimum from below and above: a row of `mpinet.jobs.searches.SEARCHES`."""

    find: Callable[[ProvingJob, Local], Findings]
    """Searches on rank 0, and runs the best schedule on all ranks (collective)."""
    missing: str
    """Sentence on a bound without a certificate, with fields of the job in braces."""
    open_fields: tuple[str, ...] = ()
    """Fields of the result that more time could change, if the search was stopped."""
    why_open: str = "no better schedule or bound was found"
    """Reason of a gap between the bounds, with fields of the result in braces."""
    shown: Callable[[ProvingJob, Row], str] | None = None
    """Formats the result; None: the format of a collective."""


@dataclass(eq=False, repr=False)
class ProvingJob(NetworkJob):
    """Job with a lower bound, which counts only if the checker accepts its certificate.

    With several groups, the network contains all groups.
    """

    options: OptimumOptions
    _search: ProofSearch
    """Search for both bounds."""
    roots: list[int]
    """Root of each group, or of the whole network."""
    parts: Sequence[Members] = ()
    """Subnetwork of each of several groups."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.root = self.roots[0] if self.options.collective in ROOTED else None
        self.ports = PortModel.named(self.options.ports)
        self._limited, self._began = False, time.perf_counter()

    def run(self, transport: Local, watch: Watch) -> Row:
        """Search, and write the certificate and the schedule, if requested."""
        from mpinet.programs.schedules.timetable import csv_text

        # Files are written after the last collective call. An error on rank 0 can then leave no
        # other rank waiting.
        found, options = self._search.find(self, transport), self.options
        if transport.rank == 0:
            if options.schedule is not None and found.table is not None:
                table = replace(
                    found.table(),
                    network=self.topology,
                    edges_sha256=found.certified.edges_sha256,
                )
                write_text(Path(options.schedule), csv_text(table))
            if options.save is not None:
                self._save_certificate(Path(options.save), found.certified)
        return found.result

    def machine(self, transport: Local) -> Machine:
        """Make a machine of the network for a schedule (collective)."""
        from mpinet.machine import Machine

        self.model = self.ports.as_json()
        return Machine(self.network, self.ports, transport)

    def shared(
        self, transport: Local, search: Certified, *names: str, **others: Any
    ) -> dict[str, Any]:
        """Share attributes of rank 0's search with all ranks (collective)."""
        search.limited |= deadline().is_near
        outcome = {name: getattr(search, name) for name in (*BOTH_SIDES, *names)} | others
        outcome["refused"] = search.selfcheck.refused
        outcome["edges_sha256"] = search.edges_sha256 if transport.rank == 0 else ""
        found: dict[str, Any] = json.loads(transport.share(json.dumps(outcome).encode()))
        self._limited = found.pop("limited")
        return found | intact(self.options, self.options.faults, transport, lambda *done: None)

    def both_sides(self, found: Row, upper: Upper, **items: int) -> Row:
        """Return a collective's result from shared attributes and the best schedule."""
        return {
            "collective": self.options.collective,
            **items,
            "network": self.topology,
            "edges_sha256": found["edges_sha256"],
            "root": self.root,
            "ports": self.options.ports,
            "lower": found["lower"],
            "upper": upper.steps,
            "exact": found["lower"] == upper.steps,
            "lower_by": found["lower_by"],
            "upper_by": upper.by,
            "own": upper.own,
            "own_algorithm": upper.own_algorithm,
            "classes": found.get("classes"),
            "bounds": found["bounds"],
            **self.refusals(found["refused"]),
            "messages": upper.messages,
            "correct": upper.correct,
            **{name: found[name] for name in ("intact_steps", "intact_bound") if name in found},
            "seconds": self.seconds,
        }

    @property
    def seconds(self) -> float:
        """Seconds since the job was prepared."""
        return round(time.perf_counter() - self._began, 3)

    @property
    def limit(self) -> str:
        """Seconds of the search, as text."""
        return f"{min(self.options.limit, self.options.line.time_limit or inf):g}"

    @property
    def no_certificate(self) -> str:
        """The sentence on a bound without a certificate."""
        by = "" if self.options.by is None else f" by {self.options.by}"
        named = {"network": self.topology, "by": by, "limit": self.limit}
        return self._search.missing.format(collective=self.options.collective, **named)

    def lasting(self, result: Row) -> Row:
        """Return all fields except seconds, and except fields that more time could change."""
        gone = {"seconds", "skipped"}
        # A digest must not depend on the computer's speed. Fields that a longer search could change
        # are left out.
        if self._limited and not result["exact"]:
            gone |= {*self._search.open_fields}
        return {name: value for name, value in result.items() if name not in gone}

    @staticmethod
    def refusals(found: list[Row]) -> Row:
        """Return the result field for bounds rejected by the checker; empty without any."""
        return {"refused": found} if found else {}

    def _save_certificate(self, file: Path, search: Certified) -> None:
        """Write a search's certificate, and its proof to a second file.

        If the checker rejected all bounds, no file is written, and the rejections are reported.

        Raises
        ------
        UsageError
            There is no certificate, although no bound was rejected.
        """
        if search.certificate:
            write_certificate(file, search.certificate, search.proof)
        elif not search.selfcheck.refused:
            raise UsageError(self.no_certificate)

    def shortfall(self, result: Row) -> str:
        """Return the sentences on unproved bounds and on a wrong result."""
        sentences = [
            f"Bound rejected by the checker: {each['lower']} by {each['by']}. The result above "
            f"does not use this bound: {each['reason']}"
            for each in result.get("refused", [])
        ]
        return " ".join(filter(None, [*sentences, super().shortfall(result)]))

    def show(self, result: Row) -> str:
        """Format both bounds, with their reasons."""
        if self._search.shown is not None:
            return self._search.shown(self, result)
        why = self._search.why_open.format(limit=self.limit, **result)
        return _shown(result, len(self.parts), why)


def _shown(result: Row, groups: int, why_open: str) -> str:
    """Format the lower and upper bound on a collective's optimum."""
    lower, upper = result["lower"], result["upper"]
    ports = "one port" if result["ports"] == "one" else "all ports"
    made = "checked by one processor's share of" if "by_orbit" in result else "run on the machine:"
    lines: dict[str, Any] = {
        "optimum": f"{upper}   (proved)"
        if result["exact"]
        else f"{lower} .. {upper}   (open: {why_open})",
        "schedule": f"{upper} steps, found by {result['upper_by']}, {made} "
        f"{result['messages']} messages, {'correct' if result['correct'] else 'WRONG'}",
        f"not {lower - 1}": result["lower_by"],
    }
    if result["own"] is not None:
        lines["own"] = f"{result['own']} by {result['own_algorithm']}"
    if "intact_steps" in result:
        lines["intact"] = f"{result['intact_bound']} .. {result['intact_steps']} without faults"
    if "skipped" in result:
        lines["skipped"] = result["skipped"]
    lines["bounds"] = "   ".join(f"{name} {steps}" for name, steps in result["bounds"].items())
    place = "" if result["root"] is None else f" from {result['root']}"
    many = f" of {result['items']} items" if result.get("items", 1) > 1 else ""
    at_once = f" of {groups} groups at once" if groups > 1 else ""
    what = f"{result['collective']}{many}{at_once}"
    return f"optimum of {what} on {result['network']}{place}, {ports}\n{fields(lines)}"


def write_certificate(
    file: Path, certificate: dict[str, Any], proof: Sequence[str] | None = None
) -> None:
    """Write a certificate, and the lines of its proof to a second file."""
    document = dict(certificate)
    if proof is not None:
        beside = _beside(file)
        # Proofs are text with many similar numbers. Compression shrinks the text strongly, and the
        # checker reads the file as a stream.
        packed = lzma.compress("".join(f"{line}\n" for line in proof).encode())
        with whole_file(beside) as written:
            written.write(packed)
        document |= {"proof": beside.name, "proof_sha256": sha256(packed).hexdigest()}
    write_text(file, json.dumps(document) + "\n")


def _beside(file: Path) -> Path:
    """Return the file of a certificate's proof."""
    return file.with_name(f"{file.stem}.lrat.xz")
