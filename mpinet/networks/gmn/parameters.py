"""Existing G(m,N), and the parameters of their rules (docs/papers/gmn, 1 and 2)."""

from __future__ import annotations

from mpinet.compiled import inlined
from mpinet.errors import TopologyError
from mpinet.networks.parameters import require_integer

LEAST_SIZE, MOST_SECTOR = 9, 108
"""The smallest N; the largest m for which the rules' 64-bit arithmetic suffices."""

FORWARD, BACKWARD, UP, DOWN = range(4)
"""The ports: +c, -c, the diagonal or +h, -h."""

LOOPS, SECTOR, TYPES, HALF, RANGE, EVEN_ABOVE, FIELD, MOST, JUMPS = range(2, 11)
"""Places in the rules' parameters.

The first places are: N of the loops (G(m,N) without some nodes has another size), m, the number b
of hop types, k = N/2m, and the largest number of b digits. Next are a flag for even types in the
upper half, a token's bits, and the most tokens of a path. Then follow the jumps at the m positions,
the tokens at these positions, and the positions of the b types.
"""

PLUS_C, MINUS_C, DIAGONAL, FIRST_HOP = range(4)
"""Tokens (4.3); hop type t has FIRST_HOP + 2t for +h and FIRST_HOP + 2t + 1 for -h."""

NO_TOKEN = -1
"""Value in place of a token at even positions except 0, which have ring links only."""


def size_range(m: int) -> tuple[int, int]:
    """Return the bounds lo < N <= hi for a sector of m nodes."""
    return (m - 1) << ((m - 1) // 2 + 1), m << (m // 2 + 1)


def loop_sector(N: int) -> int:
    """Return the m in whose range N lies; 3 for smaller N."""
    return next(m for m in range(3, N + 1) if size_range(m)[1] >= N)


def require_loops(family: str, m: int, N: int) -> None:
    """Raise `TopologyError` unless G(m,N) exists."""
    require_integer(family, "m", m, 3, MOST_SECTOR)
    require_integer(family, "N", N, 1)
    lo, hi = size_range(m)
    least, most = lo // (2 * m) * 2 * m + 2 * m, hi // (2 * m) * 2 * m
    if N % (2 * m) or not lo < N <= hi:
        raise TopologyError(
            f"{family}: N must be a multiple of 2m = {2 * m} in {least}..{most} for m = {m}, "
            f"not {N}."
        )


def positions_of(m: int) -> list[int]:
    """Return the positions in a sector of the hop types 0..b-1."""
    b = m // 2
    r = b - 1
    # Even and odd types lie in different halves of a sector. A walk for one class of hops then
    # passes only half of the ring positions.
    place = {r - 2 * i: 2 * i + 1 for i in range(r // 2 + 1)}
    if r % 2 == 0:
        place |= {2 * i - 1: b + 2 * i for i in range(1, r // 2 + 1)}
    else:
        place |= {2 * i: b + 2 * i + 1 for i in range(r // 2 + 1)}
    return [place[t] for t in range(b)]


def loop_params(m: int, N: int) -> list[int]:
    """Return the rules' parameters of G(m,N) without size and ports."""
    b, place = m // 2, positions_of(m)
    jumps, tokens = [0] * m, [NO_TOKEN] * m
    # Only the start of a sector has the diagonal. Including the hops, each node has at most two
    # links in addition to the ring.
    jumps[0], tokens[0] = N // 2, DIAGONAL
    for t, position in enumerate(place):
        jumps[position], tokens[position] = m << t, FIRST_HOP + 2 * t
    head = [N, m, b, N // (2 * m), largest(b), b % 2 == 0, (2 * b + 3).bit_length(), m + b + 4]
    return [*map(int, head), *jumps, *tokens, *place]


def largest(digits: int) -> int:
    """Return the largest number of `digits` digits in restricted redundant binary (Lemma 2)."""
    # The largest number without adjacent nonzero digits is 101..01 in binary, which is a third
    # of the next power (Lemma 2).
    return (1 << (digits + 1)) // 3


@inlined
def token_at(position, params):
    """Return the token of the diagonal or of +h at a position, or `NO_TOKEN`."""
    return params[JUMPS + params[SECTOR] + position]


@inlined
def position_of(hop_type, params):
    """Return the position of a hop type."""
    return params[JUMPS + 2 * params[SECTOR] + hop_type]


@inlined
def behind(node, token, params):
    """Return the node of the loops behind a token, which must be a token of the given node."""
    size = params[LOOPS]
    if token == PLUS_C:
        return node + 1 if node < size - 1 else 0
    if token == MINUS_C:
        return node - 1 if node > 0 else size - 1
    hop = token - FIRST_HOP
    if hop < 0:
        distance = size >> 1
    else:
        distance = params[SECTOR] << (hop >> 1)
        if hop & 1:
            distance = size - distance
    # Subtracting the size first keeps the sum below 2^63 for the largest loops.
    other = node - size + distance
    return other if other >= 0 else other + size


@inlined
def inverse(token):
    """Return the token of the opposite direction."""
    if token == DIAGONAL:
        return token
    # Tokens come in pairs of opposite directions, which differ in the last bit. The diagonal is its
    # own opposite.
    return token ^ 1 if token < DIAGONAL else ((token - FIRST_HOP) ^ 1) + FIRST_HOP
