"""Multistage networks of two-by-two switches (docs/papers/lens, 10), such as omega, flip and cube.

A line x of n bits leads from each stage to the next. The kind determines the bits of x that make
the number of the switch on its left and on its right. Every switch is a node; the lines are links.
"""

from __future__ import annotations

from mpinet.compiled import inlined, rule
from mpinet.errors import TopologyError
from mpinet.networks.parameters import Parameter, whole_number
from mpinet.networks.topology import Topology

KIND, STAGES = 2, 3
"""Places in the rules' parameters: the kind's place in `KINDS`, and n."""

KINDS = ("omega", "flip", "cube", "banyan", "baseline")
OMEGA, FLIP, CUBE, BANYAN, BASELINE = range(5)

PORTS = 4
"""Number of ports: 0 and 1 are the lines to the right, 2 and 3 the lines to the left."""


class Multistage(Topology):
    """Multistage network of n stages of 2^(n-1) switches; node = stage * 2^(n-1) + switch.

    Ports 0 and 1 are a switch's lines to the next stage, 2 and 3 its lines to the previous stage.
    Each pair ascends by the line's number (ours). The outer stages lack these lines on one side.
    Every line is a separate link.
    """

    parameters = (
        Parameter("kind", " | ".join(KINDS), str),
        whole_number("n", 1, 57),
    )
    example = "multistage:omega,4"
    paper = "Finkel, Solomon; textbook"
    specification = "papers/lens 10"

    def __init__(self, kind: str, n: int):
        if kind not in KINDS:
            raise TopologyError(
                f"multistage: kind must be one of {', '.join(KINDS)}, not {kind!r}."
            )
        self.radices = (n, 1 << (n - 1))
        super().__init__(
            f"{kind},{n}",
            size=n << (n - 1),
            ports=PORTS if n > 1 else 0,
            params=[KINDS.index(kind), n],
            stated={"degree": PORTS},
        )

    @rule
    def neighbor(node, port, params):
        """Return the switch at the line's other end."""
        line = line_behind(node, port, params)
        if line < 0:
            return -1
        stage = node >> (params[STAGES] - 1)
        if port < 2:
            return ((stage + 1) << (params[STAGES] - 1)) + right_switch(line, stage, params)
        return ((stage - 1) << (params[STAGES] - 1)) + left_switch(line, stage - 1, params)

    @rule
    def reverse_port(node, port, params):
        """Return the line's port at its other end."""
        line = line_behind(node, port, params)
        if line < 0:
            return -1
        stage = node >> (params[STAGES] - 1)
        if port < 2:
            return 2 + (line >> right_bit(stage, params)) % 2
        return (line >> left_bit(stage - 1, params)) % 2


@inlined
def left_bit(gap, params):
    """Return the bit of a line that the switch on the left ignores, for gap 0..n-2."""
    # Two lines share a switch if they differ in one bit only. Omega, cube and banyan networks
    # differ in that bit alone.
    if params[KIND] == CUBE:
        return gap
    return params[STAGES] - 1 - gap if params[KIND] == BANYAN else 0


@inlined
def right_bit(gap, params):
    """Return the bit of a line that the switch on the right of a gap ignores."""
    if params[KIND] == CUBE:
        return gap + 1
    if params[KIND] == BANYAN:
        return params[STAGES] - 2 - gap
    return params[STAGES] - 1 if params[KIND] == OMEGA else 1


@inlined
def without_bit(word, place):
    """Return the word with a bit removed and the gap closed."""
    return ((word >> (place + 1)) << place) | (word & ((1 << place) - 1))


@inlined
def with_bit(word, place, bit):
    """Return the word with a bit inserted: the inverse of `without_bit`."""
    low = word & ((1 << place) - 1)
    return ((word >> place) << (place + 1)) | (bit << place) | low


@inlined
def rotated(word, width, distance):
    """Return the word with its lowest `width` bits rotated right by 1 or width - 1."""
    low = word & ((1 << width) - 1)
    turned = (low >> distance) | ((low << (width - distance)) & ((1 << width) - 1))
    return word - low + turned


@inlined
def turning_width(gap, params):
    """Return the number of low bits of a line that flip and baseline networks rotate."""
    return params[STAGES] - gap if params[KIND] == BASELINE else params[STAGES]


@inlined
def left_switch(line, gap, params):
    """Return the switch at a line's left end."""
    return without_bit(line, left_bit(gap, params))


@inlined
def right_switch(line, gap, params):
    """Return the switch at a line's right end."""
    # These two kinds rotate the line's number instead of skipping a bit. Removing a bit would
    # change the order of switches.
    if params[KIND] == FLIP or params[KIND] == BASELINE:
        return rotated(line, turning_width(gap, params), 1) >> 1
    return without_bit(line, right_bit(gap, params))


@inlined
def line_behind(node, port, params):
    """Return the number of the line at a port, -1 = none."""
    n = params[STAGES]
    stage = node >> (n - 1)
    switch = node - (stage << (n - 1))
    if port < 2:
        return -1 if stage == n - 1 else with_bit(switch, left_bit(stage, params), port)
    if stage == 0:
        return -1
    if params[KIND] == FLIP or params[KIND] == BASELINE:
        width = turning_width(stage - 1, params)
        return rotated(2 * switch + port - 2, width, width - 1)
    return with_bit(switch, right_bit(stage - 1, params), port - 2)
