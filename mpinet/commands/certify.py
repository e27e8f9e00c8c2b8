"""``mpinet certify``: check a certificate; no solver is needed, and none is loaded."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from mpinet.base.files import require_writable
from mpinet.base.numerals import seconds
from mpinet.certify.work import EFFORT
from mpinet.commands.fields import Count, Hash, Positive, When
from mpinet.commands.job import Job, Watch
from mpinet.commands.opening import Network
from mpinet.commands.options import Common, File, Ports, Seed
from mpinet.commands.perform import perform
from mpinet.commands.result import Result
from mpinet.commands.signature import Typed, command
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

COLLECTIVE, WIDTH = When("of a collective"), When("of a bisection width")


class CertifyResult(Result):
    """Result of ``certify``, of a collective or of a bisection width."""

    network: str
    edges_sha256: Hash
    kind: str
    more_than: int
    verified: bool
    collective: Annotated[str, COLLECTIVE]
    items: Annotated[Positive, When("of more than one item")]
    ports: Annotated[Ports, COLLECTIVE]
    root: Annotated[Count | None, COLLECTIVE]
    steps: Annotated[Positive, When("of rounds of so many steps")]
    groups: Annotated[list[list[Count]], When("of several groups at once")]
    measure: Annotated[Literal["bisection"], WIDTH]
    parted: Annotated[Count, WIDTH, "by the cut that it shows"]
    medium: Annotated[Literal["links", "busses"], WIDTH]

    kinds_: ClassVar = (COLLECTIVE, WIDTH)


@command(Common)
def certify(
    file: Annotated[File, Typed("Certificate (mpinet optimum).")],
    *,
    on: Annotated[Network | None, Typed(metavar="TOPO")] = None,
    effort: Annotated[float, Typed(metavar="SECONDS", read=seconds)] = EFFORT,
    export: File | None = None,
    seed: Seed = 0,
) -> CertifyResult:
    """Check a certificate: of how many steps or links it takes (collective).

    No solver is needed, and none is loaded.

    Parameters
    ----------
    on : str or Topology, optional
        Network that the certificate has to be about; needed for a class of one's own, whose code is
        run then; default: the network that it names.
    effort : float
        Most work of the check, as estimated beforehand: the same on every computer, and about so
        many seconds.
    export : str, optional
        File for checkers of others: ``.cnf``, the formula of a certificate of kind ``lrat`` in
        DIMACS, with the proof beside it (``.lrat``), as cake_lpr reads it; ``.lp``, the linear
        program of one of kind ``class-lp``, in whole numbers; ``.opb``, the constraints of one by
        cuts about broadcast, gossip, scatter or gather, with the proof beside it (``.pbp``), as
        VeriPB reads them; ``.v``, a theorem for Coq.
    seed : int
        Changes nothing.

    Returns
    -------
    Result
        The exit status is 1 where the certificate does not prove it, or where it is more work to
        see that than ``--effort`` allows (estimated beforehand). No solver is imported, and code of
        a user's class is run only where ``--on`` names it.

    Examples
    --------
    ``mpinet certify proof.json``

    ``mpinet certify proof.json --on hypercube:4``
    """
    return perform(certify, locals())


def prepare(options: argparse.Namespace) -> Job:
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

    def __init__(self, options: argparse.Namespace):
        super().__init__()
        self._file = Path(options.file)
        self._effort = options.effort
        self._on = None if options.on is None else open_topology(options.on)
        self._export = None if options.export is None else Path(options.export)

    def run(self, transport: Local, watch: Watch) -> Row:
        """Check it."""
        from mpinet.certify.certificate import certify
        from mpinet.certify.claims import Claim

        found = certify(self._file, self._on, self._effort)
        self.topology = found.name
        if self._export is not None and transport.rank == 0:
            import_module(EXPORTS[self._export.suffix]).export(found, self._export)
        return {
            "network": found.name,
            "edges_sha256": found.network.edges_sha256,
            "kind": found.kind,
            **({} if isinstance(found.claim, Claim) else {"measure": "bisection"}),
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
