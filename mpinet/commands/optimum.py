"""``mpinet optimum``: the fewest steps of a broadcast, with a schedule and a certificate."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, ClassVar, Literal

from mpinet.commands.fields import Count, Fields, Hash, Positive, Skipped, When
from mpinet.commands.functions import function_after_word
from mpinet.commands.network import Network
from mpinet.commands.optionrecords import Common, File, Options, Seed, Typed
from mpinet.commands.options import FaultWords, GroupWords, Place, Ports, Switches
from mpinet.commands.result import Result
from mpinet.programs.kinds import Collective

Way = Literal["eigenvalue", "flow", "front", "lrat"]
"""The kinds of certificates."""


Sought = Literal[Collective, "bisection"]
"""Names of the collectives and the cut whose optimum is searched."""


class Refusal(Fields):
    """A certificate of the search that the checker refuses."""

    lower: Positive
    by: str
    reason: str


COLLECTIVE, WIDTH = When("of a collective"), When("of ``bisection``")


class OptimumResult(Result):
    """Result of ``optimum``, of a collective or of ``bisection``."""

    network: str
    edges_sha256: Hash
    lower: Count
    upper: Count
    exact: bool
    lower_by: Annotated[
        str | None,
        "distance, growth, class-lp, lrat, cut, cuts (with weights), flow, or hops of many items; "
        "over no cut ends or hops, which have no certificate; of a bisection the kind of "
        "certificate, null where the width is 0 or no kind shows anything",
    ]
    upper_by: Annotated[str, "of a bisection search, front or sat"]
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
    refused: Annotated[
        list[Refusal], When("where the checker refuses a certificate of the search itself,")
    ]

    kinds_: ClassVar = (COLLECTIVE, WIDTH)


@dataclass(frozen=True)
class OptimumOptions(Options):
    """Find the fewest steps of a collective, or what is known of them (collective).

    Or of the links between two halves: the bisection width.


    Returns
    -------
    Result
        Refused bounds count for nothing, and the exit status is 1. The digest leaves out seconds,
        and what more time could change where ``exact`` is false. FILE: a certificate (with a proof,
        also FILE's name with ``.lrat.xz``); a schedule as rows step, from, to, chunk.

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
    collective: Annotated[Sought, Typed(words=())] = "broadcast"
    """Collective whose steps are counted; or ``bisection``, the fewest links between two halves."""
    items: int = 1
    """Items in a pipeline, of all collectives but scatter and gather."""
    switches: Switches = "copy"
    group: GroupWords = None
    faults: FaultWords = None
    root: Place = 0
    """Processor where the collective starts, or ends: a number or an address. Gossip, exchange and
    allreduce and reducescatter have none."""
    ports: Ports = "one"
    limit: Annotated[float, Typed(metavar="SECONDS")] = 60.0
    """Seconds of search."""
    save: File | None = None
    """File for the certificate."""
    schedule: File | None = None
    """File for the best schedule that was found."""
    by: Way | None = None
    """Kind of certificate of a bisection width; default: the first that is found."""
    seed: Seed = 0
    """Ignored: a search draws nothing."""


optimum = function_after_word(OptimumOptions, OptimumResult, "collective", Common)
