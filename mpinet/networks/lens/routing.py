"""Routings of lens and completed lens, by plans or without (docs/papers/lens, 5 and 6).

Random choices are drawn for (seed, source, target, hops to go): the same on any number of ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.compiled import Rule, rule
from mpinet.draws import draw, draw32
from mpinet.errors import UsageError
from mpinet.networks.arithmetic import ceil_log2
from mpinet.networks.lens.arcs import circle_plan, regular_circle_plan
from mpinet.networks.lens.labels import (
    COMPLETED,
    Labelled,
    first_row,
    label_parts,
    layout,
    port_of,
)
from mpinet.networks.lens.plans import (
    AS_TARGET,
    CHOICE,
    DRAWN,
    GIVEN,
    NO_WAY,
    PATTERN_B,
    SEED,
    SUPPLIED,
    next_move,
)
from mpinet.networks.lens.region import region_plan
from mpinet.networks.lens.stateless import decide as decide_stateless
from mpinet.networks.routing import ARRIVED, STUCK, Routing


def by_plans(lens: Labelled, pattern_b: bool = True, first: Sequence[int] = ()) -> Routing:
    """Routing by the canonical plan.

    Parameters
    ----------
    lens : LensNetwork
        A lens or a completed lens.
    pattern_b : bool
        Whether one move across may save a hop. Without it some pairs of an uncompleted lens, whose
        region of difference begins with position 1, have no path; their messages are stuck.
    first : sequence of int
        Digits for the crossings that are not final, in order; then, and by default always, these
        write the target's digit, too.

    Raises
    ------
    UsageError
        A supplied digit that no position has.
    """
    for digit in first:
        if (
            isinstance(digit, bool)
            or not isinstance(digit, int)
            or not 0 <= digit < max(lens.radices)
        ):
            raise UsageError(
                f"{lens.name}: a digit of first= must be 0..{max(lens.radices) - 1}, not {digit!r}."
            )
    return Routing(
        name="plans" if pattern_b else "patternA",
        decide=decide,
        start=start,
        params=routing_params(lens, pattern_b=pattern_b, first=first),
        # On the real machine a header has the target and three lengths. The emulator's words are
        # larger, and are not counted.
        header_bits=plan_bits(lens),
        words=3 if first else 2,
        shortest=pattern_b,
        stateless=False,
    )


def without_plans(lens: Labelled) -> Routing:
    """Stateless routing: to the first neighbour that is one hop closer."""
    bits = target_bits(lens)
    return Routing("stateless", decide_stateless, lens.params, lambda source, target: bits)


def fair(lens: Labelled, seed: int = 0) -> Routing:
    """Routing by a random one of the least plans, with random digits and busses where free."""
    return random_routing("fair", start_fair, lens, seed)


def regular(lens: Labelled, seed: int = 0) -> Routing:
    """Routing over a shortest path, each of them being equally likely."""
    return random_routing("regular", start_regular, lens, seed)


def random_routing(name: str, start_rule: Rule, lens: Labelled, seed: int) -> Routing:
    """A routing with the plan that a start rule draws."""
    return Routing(
        name=name,
        decide=decide,
        start=start_rule,
        params=routing_params(lens, seed=seed),
        header_bits=plan_bits(lens),
        words=3,
        stateless=False,
    )


def routing_params(
    lens: Labelled, pattern_b: bool = True, seed: int = 0, first: Sequence[int] = ()
) -> Ints:
    """The topology's parameters with the routing's own, supplied digits at the end."""
    # Supplied digits stand at the end. Their number tells rules where they begin, so that all other
    # places stay fixed.
    params = np.append(lens.params, np.array(first, np.int64))
    params[PATTERN_B], params[SEED], params[SUPPLIED] = pattern_b, seed, len(first)
    return params


def target_bits(lens: Labelled) -> int:
    """Bits of a target in a header: n digits and the dot's place."""
    n, radix = lens.level, max(lens.radices)
    return max(1, n * ceil_log2(radix) + ceil_log2(n))


def plan_bits(lens: Labelled) -> Callable[[int, int], int]:
    """Bits of a header: the target, the first run's direction, three runs up to 2n, pattern B."""
    bits = target_bits(lens) + 1 + 3 * ceil_log2(2 * lens.level + 1) + 1
    return lambda source, target: bits


@rule
def start(source, target, header, params):
    """Write the canonical plan as the header."""
    choice = GIVEN if params[SUPPLIED] else AS_TARGET
    if params[COMPLETED]:
        circle_plan(source, target, -1, choice, header, params)
    else:
        region_plan(source, target, 0, choice, header, params)


@rule
def start_fair(source, target, header, params):
    """A random one of the least plans."""
    # One key per message is drawn at the source. All later draws derive from it and from the hops
    # to go.
    header[2] = draw(int(params[SEED]), int(source), int(target))
    chosen = draw32(int(header[2]), 0, 2, 4)
    if params[COMPLETED]:
        circle_plan(source, target, chosen, DRAWN, header, params)
    else:
        region_plan(source, target, chosen & 1, DRAWN, header, params)


@rule
def start_regular(source, target, header, params):
    """A random word of moves, each as likely as it has paths."""
    header[2] = draw(int(params[SEED]), int(source), int(target))
    chosen = draw(int(header[2]), 0, 2)
    if params[COMPLETED]:
        regular_circle_plan(source, target, chosen, DRAWN, header, params)
    else:
        region_plan(source, target, chosen & 1, DRAWN, header, params)


@rule
def decide(node, header, params):
    """The next move of the plan."""
    k, left, _ = label_parts(node + first_row(params), params)
    move, digit, c = next_move(k, header, params)
    if move == ARRIVED:
        # Pattern A alone cannot join all pairs. Such messages stop at their source, with a mark
        # instead of a plan.
        return STUCK if header[1] >> CHOICE == NO_WAY else ARRIVED
    own, owners, members = layout(k, params)
    return port_of(move, digit, c, left, own, owners, members, params)
