"""``mpinet certify``: check a certificate; no solver is needed, and none is loaded."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar, Literal

from mpinet.base.numerals import seconds
from mpinet.certify.work import EFFORT
from mpinet.commands.fields import Count, Hash, Positive, When
from mpinet.commands.functions import function_with
from mpinet.commands.network import Network
from mpinet.commands.optionrecords import Common, File, Options, Seed, Typed
from mpinet.commands.options import Ports
from mpinet.commands.result import Result

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


@dataclass(frozen=True)
class CertifyOptions(Options):
    """Check a certificate: of how many steps or links it takes (collective).

    No solver is needed, and none is loaded.


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

    command = "certify"
    file: Annotated[File, Typed("Certificate (mpinet optimum).")]
    _: KW_ONLY
    on: Annotated[Network | None, Typed(metavar="TOPO")] = None
    """Network that the certificate has to be about; needed for a class of one's own, whose code is
    run then; default: the network that it names."""
    effort: Annotated[float, Typed(metavar="SECONDS", read=seconds)] = EFFORT
    """Most work of the check, as estimated beforehand: the same on every computer, and about so
    many seconds."""
    export: File | None = None
    """File for checkers of others: ``.cnf``, the formula of a certificate of kind ``lrat`` in
    DIMACS, with the proof beside it (``.lrat``), as cake_lpr reads it; ``.lp``, the linear program
    of one of kind ``class-lp``, in whole numbers; ``.opb``, the constraints of one by cuts about
    broadcast, gossip, scatter or gather, with the proof beside it (``.pbp``), as VeriPB reads them;
    ``.v``, a theorem for Coq."""
    seed: Seed = 0
    """Changes nothing."""


certify = function_with(CertifyOptions, CertifyResult, Common)
