"""``mpinet certify``: check a certificate; no solver is needed, and none is loaded."""

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
"""Modules that write what has been verified for checkers of others, by the ending of the file."""


def prepare(options: CertifyOptions) -> Job:
    """Open the network that was asked for."""
    if not 0 < options.effort < float("inf"):
        raise UsageError(f"An effort is a number of seconds above 0, not {options.effort}.")
    if options.export is not None:
        if Path(options.export).suffix not in EXPORTS:
            endings = " or ".join(EXPORTS)
            raise UsageError(f"--export {options.export}: the file's name ends in {endings}.")
        require_writable(Path(options.export))
    return Certify(options)


class Certify(Job):
    """A certificate to check; one rank does."""

    def __init__(self, options: CertifyOptions):
        super().__init__()
        self._file = Path(options.file)
        self._effort = options.effort
        # The network is opened before the certificate is read: a wrong name is the cheaper error.
        self._on = None if options.on is None else open_topology(options.on)
        self._export = None if options.export is None else Path(options.export)

    def run(self, transport: Local, watch: Watch) -> Row:
        """Check it."""
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
        """Return the claimed values, without the fields that one item or plain steps leave out."""
        plain = [("items", 1), ("steps", None), ("groups", None)]
        return {k: value for k, value in asdict(claim).items() if (k, value) not in plain}

    def show(self, result: Row) -> str:
        """Format the verdict as one sentence."""
        if "measure" in result:
            return (
                f"{self._file.name}: every cut of {result['network']} into halves parts more than "
                f"{result['more_than']} {result['medium']}, one parts {result['parted']}: VERIFIED"
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
