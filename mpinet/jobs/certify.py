"""``mpinet certify``: check a certificate without a solver."""

from __future__ import annotations

from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

from mpinet.base.files import require_writable
from mpinet.commands.certify import CertifyOptions
from mpinet.commands.job import Job, Watch
from mpinet.errors import UsageError
from mpinet.machine.transport import Local
from mpinet.networks import open as open_topology
from mpinet.report.rows import Row

EXPORTS = {
    ".cnf": "mpinet.certify.dimacs",
    ".lp": "mpinet.certify.linear",
    ".opb": "mpinet.certify.pseudoboolean",
    ".v": "mpinet.certify.coq",
}
"""Modules that export a verified certificate for third-party checkers, by file ending."""


def prepare(options: CertifyOptions) -> Job:
    """Check the export file, open the network, and return the job."""
    if not 0 < options.effort < float("inf"):
        raise UsageError(f"--effort is a number of seconds > 0, not {options.effort}.")
    if options.export is not None:
        if Path(options.export).suffix not in EXPORTS:
            endings = " or ".join(EXPORTS)
            raise UsageError(f"--export {options.export}: the file name must end in {endings}.")
        require_writable(Path(options.export))
    return Certify(options)


class Certify(Job):
    """A certificate to check, on one rank."""

    def __init__(self, options: CertifyOptions):
        super().__init__()
        self._file = Path(options.file)
        self._effort = options.effort
        # The network is opened before the certificate is read, because a wrong name is found
        # faster.
        self._on = None if options.on is None else open_topology(options.on)
        self._export = None if options.export is None else Path(options.export)

    def run(self, transport: Local, watch: Watch) -> Row:
        """Check the certificate, and return the result row."""
        from mpinet.certify.certificate import certify
        from mpinet.certify.claims import BoundClaim

        found = certify(self._file, self._on, self._effort)
        self.topology = found.name
        if self._export is not None and transport.rank == 0:
            import_module(EXPORTS[self._export.suffix]).export(found, self._export)
        return {
            "network": found.name,
            "edges_sha256": found.network.edges_sha256,
            "kind": found.kind,
            **({} if isinstance(found.claim, BoundClaim) else {"measure": "bisection"}),
            **self._claimed(found.claim),
            "verified": True,
        }

    @staticmethod
    def _claimed(claim: Any) -> Row:
        """Return the fields of the claim, without trivial values such as a single item."""
        plain = [("items", 1), ("steps", None), ("groups", None)]
        return {k: value for k, value in asdict(claim).items() if (k, value) not in plain}

    def show(self, result: Row) -> str:
        """Format the verdict as one sentence."""
        if "measure" in result:
            return (
                f"{self._file.name}: every cut of {result['network']} into halves has more "
                f"than {result['more_than']} {result['medium']}, one cut "
                f"has {result['parted']}: VERIFIED"
            )
        place = "" if result["root"] is None else f" from {result['root']}"
        ports = "one port" if result["ports"] == "one" else "all ports"
        many = f" of {result['items']} items" if "items" in result else ""
        many += f" of {len(result['groups'])} groups at once" if "groups" in result else ""
        counted = f"{result['more_than']} steps"
        if "steps" in result:
            counted = f"{result['more_than']} rounds in {result['steps']} steps"
        return (
            f"{self._file.name}: {result['collective']}{many}{place} on "
            f"{result['network']}, {ports}, takes more than {counted}: VERIFIED"
        )
