"""``mpinet certify``: check a certificate without a solver."""

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
    """Result of ``certify``, for a certificate of a collective or of a bisection width."""

    network: str
    edges_sha256: Hash
    kind: str
    more_than: int
    verified: bool
    collective: Annotated[str, COLLECTIVE]
    items: Annotated[Positive, When("of more than one item")]
    ports: Annotated[Ports, COLLECTIVE]
    root: Annotated[Count | None, COLLECTIVE]
    steps: Annotated[Positive, When("with rounds of several steps")]
    groups: Annotated[list[list[Count]], When("of several groups at once")]
    measure: Annotated[Literal["bisection"], WIDTH]
    parted: Annotated[Count, WIDTH, "links or busses in the certificate's cut"]
    medium: Annotated[Literal["links", "busses"], WIDTH]

    kinds_: ClassVar = (COLLECTIVE, WIDTH)


@dataclass(frozen=True)
class CertifyOptions(Options):
    """Check a certificate of a lower bound on steps, or on the links of a cut (collective).

    The check needs and loads no solver.


    Returns
    -------
    Result
        The exit status is 1 if the certificate does not prove its claim, or if the check would
        exceed
        ``--effort`` (estimated in advance). Code of a user's class runs only if ``--on`` names the
        class.

    Examples
    --------
    ``mpinet certify proof.json``

    ``mpinet certify proof.json --on hypercube:4``
    """

    command = "certify"
    file: Annotated[File, Typed("Certificate, written by mpinet optimum.")]
    _: KW_ONLY
    on: Annotated[Network | None, Typed(metavar="TOPO")] = None
    """Network that the certificate must be about; default: the network named in the certificate.
    Required for a user's own class, whose code then runs."""
    effort: Annotated[float, Typed(metavar="SECONDS", read=seconds)] = EFFORT
    """Largest work of the check in seconds, estimated in advance; the estimate is the same on every
    computer."""
    export: File | None = None
    """File for a third-party checker: ``.cnf``, the DIMACS formula of a certificate of kind
    ``lrat``, with the proof in ``.lrat``, for cake_lpr; ``.lp``, the linear program of kind
    ``class-lp``, in whole numbers; ``.opb``, the constraints of a certificate by cuts about
    broadcast, gossip, scatter or gather, with the proof in ``.pbp``, for VeriPB; ``.v``, a theorem
    for Coq."""
    seed: Seed = 0
    """No effect."""


certify = function_with(CertifyOptions, CertifyResult, Common)
