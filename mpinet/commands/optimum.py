"""``mpinet optimum``: find the fewest steps of a collective, with a schedule and a certificate."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, ClassVar, Literal

from mpinet.commands.fields import Count, Fields, Hash, Positive, Skipped, When
from mpinet.commands.functions import function_after_word
from mpinet.commands.network import Network
from mpinet.commands.optionrecords import Common, File, In, Options, Seed, TimeLimited, Typed
from mpinet.commands.options import FaultWords, GroupWords, Place, Ports, Switches
from mpinet.commands.result import Result
from mpinet.programs.kinds import Collective

Way = Literal["eigenvalue", "flow", "front", "lrat"]
"""Kinds of certificates of a bisection width."""


Sought = Literal[Collective, "bisection"]
"""Names of the searched optima: collectives, and the bisection."""


class Refusal(Fields):
    """A certificate of the search that the checker rejects."""

    lower: Positive
    by: str
    reason: str


COLLECTIVE, WIDTH = When("of a collective"), When("of ``bisection``")


class OptimumResult(Result):
    """Result of ``optimum``, for a collective or for ``bisection``."""

    network: str
    edges_sha256: Hash
    lower: Count
    upper: Count
    exact: bool
    lower_by: Annotated[
        str | None,
        "distance, growth, class-lp, lrat, cut, cuts (with weights), flow; without a certificate "
        "also ends and hops; for a bisection the kind of certificate, null if the width is 0 or "
        "no kind succeeds",
    ]
    upper_by: Annotated[str, "for a bisection: search, front or sat"]
    bounds: Annotated[dict[str, Count | None], "steps or links by kind of bound"]
    seconds: float
    collective: Annotated[str, COLLECTIVE]
    items: Annotated[Positive, When("of more than one, and of allreduce and reducescatter,")]
    root: Annotated[Count | None, COLLECTIVE]
    ports: Annotated[Ports, COLLECTIVE]
    own: Annotated[Count | None, COLLECTIVE]
    own_algorithm: Annotated[str | None, COLLECTIVE]
    classes: Annotated[Any, COLLECTIVE]
    messages: Annotated[Count, COLLECTIVE]
    correct: Annotated[bool, COLLECTIVE]
    skipped: Skipped
    groups: Annotated[list[list[Count]], When("of several groups at once")]
    by_orbit: Annotated[
        Literal[True], When("by ``translations`` of a large network"), "as of ``gossip``"
    ]
    intact_steps: Annotated[Count, When("with ``--faults``"), "steps without the faults"]
    intact_bound: Annotated[Count | None, When("with ``--faults``"), "their lower bound"]
    measure: Annotated[Literal["bisection"], WIDTH]
    side: Annotated[list[Count], WIDTH, "nodes on one side of a cut of ``upper`` links or busses"]
    refused: Annotated[list[Refusal], When("if the checker rejects a certificate of the search,")]

    kinds_: ClassVar = (COLLECTIVE, WIDTH)


@dataclass(frozen=True)
class OptimumOptions(Options):
    """Find the fewest steps of a collective, or lower and upper bounds (collective).

    With ``bisection``: find the fewest links between two halves of the network.


    Returns
    -------
    Result
        Bounds whose certificates are rejected are left out, and the exit status is then 1. The
        digest
        covers no seconds, and, if ``exact`` is false, no values that more time could improve. FILE:
        a
        certificate (a proof is in a second file, FILE's name with ``.lrat.xz``); a schedule as rows
        step,
        from, to, chunk.

    Examples
    --------
    ``mpinet optimum hypercube:4``

    ``mpinet optimum allreduce ring:8 --items 8 --save proof.json``

    >>> import mpinet
    >>> mpinet.optimum("hypercube:4").upper
    4
    >>> mpinet.optimum("bisection", "hypercube:4").lower
    8
    """

    command = "optimum"
    topology: Network
    _: KW_ONLY
    collective: Annotated[Sought, Typed(words=()), In.COLLECTIVE] = "broadcast"
    """Collective whose steps are minimised; or ``bisection``, the fewest links between two halves.
    """
    items: Annotated[int, In.COLLECTIVE] = 1
    """Items in a pipeline, for all collectives except scatter and gather."""
    switches: Switches = "copy"
    group: GroupWords = None
    faults: FaultWords = None
    root: Annotated[Place, In.COLLECTIVE] = 0
    """Processor where the collective starts or ends: number or address. Gossip, exchange, allreduce
    and reducescatter have no root."""
    ports: Ports = "one"
    limit: Annotated[float, Typed(metavar="SECONDS"), In.SEARCH] = 60.0
    """Seconds of search."""
    save: Annotated[File | None, In.OUTPUT] = None
    """File for the certificate."""
    schedule: Annotated[File | None, In.OUTPUT] = None
    """File for the best schedule."""
    by: Annotated[Way | None, In.SEARCH] = None
    """Kind of certificate of a bisection width; default: the first kind that succeeds."""
    seed: Annotated[Seed, In.SEARCH] = 0
    """No effect: the search draws no random numbers."""


optimum = function_after_word(OptimumOptions, OptimumResult, "collective", TimeLimited, Common)
