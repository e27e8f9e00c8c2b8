"""Definitions of the networks by words of bits, for comparison with the wiring."""

from __future__ import annotations

from collections.abc import Iterator

Link = tuple[int, int]


def rotated_left(word: int, places: int, n: int) -> int:
    """Return an n-bit word shifted cyclically to the left, computed on its text."""
    # Shifted as text, unlike the emulator's rule, so one mistake cannot be in both.
    text = format(word, f"0{n}b")
    places %= n
    return int(text[places:] + text[:places], 2)


def rotated_right(word: int, places: int, n: int) -> int:
    """Return an n-bit word shifted cyclically to the right."""
    return rotated_left(word, -places, n)


def link(u: int, v: int) -> Link:
    """Return a link as a sorted pair of nodes."""
    return min(u, v), max(u, v)


def subsection_widths(width: int, a: int) -> list[int]:
    """Return the widths of a section's subsections from the right: a, but the last may be less."""
    return [min(a, width - low) for low in range(0, width, a)]


def partial_links(a: int, b: int, n: int) -> Iterator[Link]:
    """Yield the links of BSN(a,b) that change one subsection of the rightmost b bits."""
    for u in range(2**n):
        for low in range(0, b, a):
            yield from ((u, u ^ pattern << low) for pattern in range(1, 2**a))


def shift_links(b: int, n: int) -> Iterator[Link]:
    """Yield the links of BSN(a,b) that shift the word by b positions, both ways; no loops."""
    for u in range(2**n):
        for v in (rotated_left(u, b, n), rotated_right(u, b, n)):
            if v != u:
                yield u, v


def bsn_links(a: int, b: int, n: int) -> set[Link]:
    """Return the links of BSN(a,b) on n bits."""
    return {link(u, v) for u, v in (*partial_links(a, b, n), *shift_links(b, n))}


def hypercube_links(n: int) -> set[Link]:
    """Return the links of the hypercube: words that differ in one bit."""
    return {link(u, u ^ 2**i) for u in range(2**n) for i in range(n)}


def shuffle_exchange_links(n: int) -> set[Link]:
    """Return the links of the shuffle-exchange: a different rightmost bit, or a shift by one."""
    exchange = {link(u, u ^ 1) for u in range(2**n)}
    shuffle = {link(u, rotated_left(u, 1, n)) for u in range(2**n)}
    return exchange | {(u, v) for u, v in shuffle if u != v}


def complete_links(n: int) -> set[Link]:
    """Return the links of the complete network of 2^n nodes."""
    return {(u, v) for v in range(2**n) for u in range(v)}


POPULAR = {
    "hypercube": hypercube_links,
    "shuffle-exchange": shuffle_exchange_links,
    "complete": complete_links,
}
"""Popular networks of 2^n nodes that the paper names as instances."""


def right_shifts(block: int, goal: int, b: int, block_bits: int) -> int:
    """Return the fewest right shifts by b bits after which the block number may be the goal's.

    The remaining bits of the block number have to be the rightmost bits of the goal.
    """
    shifts = 0
    while shifts * b < block_bits:
        kept = block_bits - shifts * b
        if block >> shifts * b == goal % 2**kept:
            break
        shifts += 1
    return shifts


def is_needy(block: int, b: int, m: tuple[int, ...], w: int) -> bool:
    """Return whether the first node of a block >= 1 has no right shift of its own.

    Its word shifted to the right belongs to place (block mod 2^b) 2^(w-b) of block (block >> b).
    """
    upper, place = block >> b, block % 2**b * 2 ** (w - b)
    if place >= m[upper]:
        return True
    return b >= 2 and block % 2**b == 0 and is_needy(2 * upper, b, m, w)
