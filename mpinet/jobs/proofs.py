"""Jobs that prove a bound, and certificates as files: the document, and its proof beside it."""

from __future__ import annotations

import json
import lzma
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from mpinet.base.files import require_room_beside, require_writable, whole_file, write_text
from mpinet.commands.job import Job
from mpinet.commands.optimum import OptimumOptions
from mpinet.errors import UsageError
from mpinet.jobs.fabric import intact
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row

if TYPE_CHECKING:
    from mpinet.machine.transport import Local
    from mpinet.measure.optimum.selfcheck import SelfCheck
    from mpinet.programs.schedules.timetable import Timetable


def require_certificate_file(file: Path) -> None:
    """Raise `FileError` unless a certificate can be written here, and its proof beside it."""
    require_room_beside(file)
    require_writable(_beside(file))


class Search(Protocol):
    """Outcome of a search for a bound."""

    certificate: dict[str, Any]
    proof: list[str] | None
    selfcheck: SelfCheck

    @property
    def edges_sha256(self) -> str:
        """Hash of the network's edges."""
        ...


@dataclass(frozen=True)
class Upper:
    """Best schedule of a collective, and the one that the network has of its own."""

    steps: int
    """Steps of the schedule on the machine."""
    messages: int
    """Messages of the schedule on the machine."""
    by: str
    """Name of the search that found the schedule."""
    correct: bool
    """True if every processor ended with the right items."""
    own: int | None
    """Steps of the network's own schedule; None if there is none."""
    own_algorithm: str | None
    """Name of the network's own schedule; None if there is none."""


class ProvingJob(Job):
    """Job with a bound from below, which counts only if the checker accepts its certificate."""

    open_fields: tuple[str, ...] = ()
    """Fields of the result that more time could change, where the search was stopped."""

    def __init__(self, options: OptimumOptions, topology: Topology):
        super().__init__()
        self.options, self.topology = options, topology.name
        self._network, self._limited = topology, False
        self._began = time.perf_counter()

    def shared(
        self, transport: Local, search: Search, names: Sequence[str], **others: Any
    ) -> dict[str, Any]:
        """Share what rank 0's search has found, by the names of its attributes (collective)."""
        outcome = {name: getattr(search, name) for name in names} | others
        outcome["refused"] = search.selfcheck.refused
        outcome["edges_sha256"] = search.edges_sha256 if transport.rank == 0 else ""
        found: dict[str, Any] = json.loads(transport.share(json.dumps(outcome).encode()))
        self._limited = found.pop("limited", False)
        return found | intact(self.options, self.options.faults, transport, lambda *done: None)

    def both_sides(self, found: Row, root: int | None, upper: Upper, **items: int) -> Row:
        """Return a collective's result: what was found (see `shared`), and the best schedule."""
        return {
            "collective": self.options.collective,
            **items,
            "network": self._network.name,
            "edges_sha256": found["edges_sha256"],
            "root": root,
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

    def save_schedule(self, table: Timetable, search: Search) -> None:
        """Write a schedule where it is wanted."""
        from mpinet.programs.schedules.timetable import csv_text

        if self.options.schedule is not None:
            named = replace(table, network=self._network.name, edges_sha256=search.edges_sha256)
            write_text(Path(self.options.schedule), csv_text(named))

    def lasting(self, result: Row) -> Row:
        """Return all fields but seconds and those that more time could change."""
        gone = {"seconds", "skipped"}
        if self._limited and not result["exact"]:
            gone |= {*self.open_fields}
        return {name: value for name, value in result.items() if name not in gone}

    @staticmethod
    def refusals(found: list[Row]) -> Row:
        """Return a result's field for bounds that the checker refused; empty if there are none."""
        return {"refused": found} if found else {}

    @staticmethod
    def save_certificate(file: str | Path | None, search: Search, missing: str) -> None:
        """Write a search's certificate where it is wanted.

        Parameters
        ----------
        file : path or None
            Where; a proof lies beside it.
        search : Search
            What was found; where nothing is left of it but what the checker refused, nothing is
            written, and the refusals say so.
        missing : str
            The sentence on why there is no certificate.

        Raises
        ------
        UsageError
            There is none, though nothing was refused.
        """
        if file is None:
            return
        if search.certificate:
            write_certificate(Path(file), search.certificate, search.proof)
        elif not search.selfcheck.refused:
            raise UsageError(missing)

    def shortfall(self, result: Row) -> str:
        """Return the sentences on bounds that were not shown, and on an incorrect result."""
        sentences = [
            f"Not shown: a bound of {each['lower']} by {each['by']}. The search found it, its own "
            f"check refuses it, and the result above does not rest on it: {each['reason']}"
            for each in result.get("refused", [])
        ]
        return " ".join(filter(None, [*sentences, super().shortfall(result)]))


def write_certificate(
    file: Path, certificate: dict[str, Any], proof: Sequence[str] | None = None
) -> None:
    """Write a certificate, and the lines of its proof to a file beside it."""
    document = dict(certificate)
    if proof is not None:
        beside = _beside(file)
        packed = lzma.compress("".join(f"{line}\n" for line in proof).encode())
        with whole_file(beside) as written:
            written.write(packed)
        document |= {"proof": beside.name, "proof_sha256": sha256(packed).hexdigest()}
    write_text(file, json.dumps(document) + "\n")


def _beside(file: Path) -> Path:
    """Return the file of a certificate's proof."""
    return file.with_name(f"{file.stem}.lrat.xz")
