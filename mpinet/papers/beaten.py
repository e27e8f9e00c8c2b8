"""Added rows that compare the steps of a claimed broadcast with the fewest possible steps.

No paper says that its broadcasts are fastest. If fewer steps are possible, the row is beaten, but
no claim is refuted. If the row holds, no broadcast is faster: the stated steps are the optimum.
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
"""Time limit of the exact search, in seconds, far above the time of any network here."""


CERTIFICATE = (
    f"mpinet optimum {{topology}} --root {{root}} --ports {{ports}} --limit {LIMIT:.0f} "
    "--save proof.cert && mpinet certify proof.cert"
)
"""Commands that prove, without trust in a solver, that no broadcast takes fewer steps."""

CERTIFIED = (
    "A certificate shows that fewer steps are too few: mpinet optimum --save, mpinet certify."
)
"""Text at the end of every row's note."""


@remembered(most=256)
def fewest_steps(topology: str, ports: str) -> BroadcastTime:
    """Return the fewest steps of a broadcast from the source that needs the most steps."""
    return measure.broadcast_time(topology, None, ports, LIMIT)


@remembered
def steps_of_passes(topology: str, ports: str) -> BroadcastTime:
    """Return bounds on the steps from processor 0, for a network too large for an exact search."""
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
    """Return a row that compares the steps stated by a claim with the optimum.

    Parameters
    ----------
    id, note, cost, fails_where
        As in `Claim`.
    beats : str
        Id of the claim that states the steps.
    steps : str
        Description of the stated steps.
    stated : callable
        Function from a point's arguments to the stated steps.
    grid : PointGrid
        Networks small enough to find the optimum.
    ports : {'one', 'all'}
        Number of ports that a processor uses in a step.
    large : frozenset of str
        Networks too large for an exact search; only a schedule by passes is computed.
    """

    def measured(topology: str, **_: Any) -> Measured | BroadcastTime:
        # An exact search would take days here. A schedule shorter than stated is enough to beat the
        # claim, and proves nothing more.
        if topology in large:
            return steps_of_passes(topology, ports)
        # The slowest root counts, because papers state the steps for any source.
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
