"""Rows of ours that set the fewest steps of a broadcast beside those that a claim states.

No paper says that its broadcasts are quickest; where fewer steps are enough, its row is beaten, not
refuted. A row holds where no broadcast is quicker: then the stated steps are the optimum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mpinet import measure
from mpinet.claims import BESIDE, Claim, Measured, PointGrid, claim
from mpinet.claims.remembered import remembered
from mpinet.claims.statement import Predicate
from mpinet.measure.broadcasttime import BroadcastTime

LIMIT = 300.0
"""Seconds of the exact search: far more than any network here takes."""


CERTIFICATE = (
    f"mpinet optimum {{topology}} --root {{root}} --ports {{ports}} --limit {LIMIT:.0f} "
    "--save proof.cert && mpinet certify proof.cert"
)
"""Commands that show, without trusting a solver, that no broadcast takes fewer steps."""

CERTIFIED = (
    "A certificate shows that fewer steps are too few: mpinet optimum --save, mpinet certify."
)
"""Ends the note of every row."""


@remembered(most=256)
def fewest_steps(topology: str, ports: str) -> BroadcastTime:
    """The fewest steps from the processor from which a broadcast takes the most."""
    return measure.broadcast_time(topology, None, ports, LIMIT)


@remembered
def steps_of_passes(topology: str, ports: str) -> BroadcastTime:
    """Bounds without a search: from processor 0 of a network that is too large for one."""
    return measure.broadcast_time(topology, 0, ports, 0)


def beaten(
    id: str,
    *,
    beats: str,
    steps: str,
    stated: Callable[..., int],
    grid: PointGrid,
    ports: str = "one",
    note: str = "",
    cost: Callable[..., float] | None = None,
    large: frozenset[str] = frozenset(),
    fails_where: tuple[str, Predicate] | None = None,
) -> Claim:
    """A row beside a claim's steps.

    Parameters
    ----------
    id, note, cost, fails_where
        As in `Claim`.
    beats : str
        Id of the claim that states the steps.
    steps : str
        What they are, in words.
    stated : callable
        The steps, of a point's arguments.
    grid : PointGrid
        The networks: all of a size for which the optimum is found.
    ports : {'one', 'all'}
        Ports that a processor uses in a step.
    large : frozenset of str
        Networks of which only the schedule that passes find is run.
    """

    def measured(topology: str, **_: Any) -> Measured | BroadcastTime:
        # The exact search would take days there. A shorter schedule is enough to beat the stated
        # steps, and proves nothing more.
        if topology in large:
            return steps_of_passes(topology, ports)
        # The slowest root counts: papers state the steps for any source.
        found = fewest_steps(topology, ports)
        command = CERTIFICATE.format(topology=topology, root=found.root, ports=ports)
        return Measured(found, {"certificate": command})

    return claim(
        id,
        place=BESIDE,
        statement=f"no {ports}-port broadcast takes fewer steps than {steps}",
        relation=">=",
        claimed=stated,
        grid=grid,
        cost=cost,
        note=f"{note} {CERTIFIED}".strip(),
        fails_where=fails_where,
        beats=beats,
        measured=measured,
    )
