"""The paper's source routing with its token header, and shortest paths by a table (4.3, 4.4).

The emulator's header begins with a word for the place of the next token: 64 times the index of the
word plus the shift in it. The other words hold tokens plus one, the next in the lowest bits; 0 ends
the list.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.compiled import Rule, inlined, rule
from mpinet.networks.gmn.parameters import (
    DIAGONAL,
    DOWN,
    FIELD,
    JUMPS,
    LOOPS,
    MOST,
    NO_TOKEN,
    SECTOR,
    TYPES,
    UP,
    token_at,
)
from mpinet.networks.gmn.walk import ROWS, TOKENS, find_path
from mpinet.networks.routing import ARRIVED, Routing
from mpinet.networks.shortest import REPRESENTATIVES, entry
from mpinet.networks.topology import Topology


def listed_routing(
    name: str,
    topology: Topology,
    params: Ints,
    start: Rule,
    decide: Rule,
    longer: int = 0,
    spare: int = 0,
    **more: Any,
) -> Routing:
    """Return a routing whose header is a list of tokens.

    Parameters
    ----------
    name, params, start, decide
        As in `Routing`.
    topology : Topology
        The loops.
    longer : int
        Number of tokens by which a path may exceed the paper's.
    spare : int
        Number of words behind the list.
    **more
        Passed to `Routing`.
    """
    words = list_words(params, longer) + spare
    return Routing(
        name=name,
        decide=decide,
        params=params,
        header_bits=list_bits(start, words, params),
        start=start,
        words=words,
        shortest=False,
        stateless=False,
        **more,
    )


def list_words(params: Ints, longer: int) -> int:
    """Return the words of a list: the place of the next token, and the tokens."""
    return 1 + -(-(int(params[MOST]) + longer + 1) // (63 // int(params[FIELD])))


def list_bits(start: Rule, words: int, params: Ints) -> Callable[[int, int], int]:
    """Return a function for the header's bits: ceil(log2(2b+3)) per token of the list."""
    width = (2 * int(params[TYPES]) + 2).bit_length()

    def bits(source: int, target: int) -> int:
        header = np.zeros(words, np.int64)
        # The list's length depends on the pair. The real header is as long as the path, which only
        # the start rule knows.
        start(source, target, header, params)
        length = 0
        while next_token(header, params) != NO_TOKEN:
            drop_token(header, params)
            length += 1
        return length * width

    return bits


@inlined
def write_list(tokens, count, header, params):
    """Write a list of tokens into a header."""
    header[:] = 0
    header[0] = 64
    word, shift, width = 1, 0, params[FIELD]
    for i in range(count):
        # Tokens are stored plus one, and zero ends the list. An empty header then needs no
        # length.
        header[word] |= (tokens[i] + 1) << shift
        shift += width
        # A token never spans two words. Reading such a token would take two accesses and a mask for
        # each.
        if shift + width > 63:
            word, shift = word + 1, 0


@inlined
def next_token(header, params):
    """Return the first token of the list, `NO_TOKEN` if the list is empty."""
    place = header[0]
    return ((header[place >> 6] >> (place & 63)) & ((1 << params[FIELD]) - 1)) - 1


@inlined
def drop_token(header, params):
    """Remove the first token from the list."""
    width = params[FIELD]
    place = header[0] + width
    header[0] = place if (place & 63) + width <= 63 else (place & ~63) + 64


@inlined
def port_of(node, token, params):
    """Return the port of a token at a node of the loops, unwired if the node lacks it."""
    if token < DIAGONAL:
        return token
    position = node % params[SECTOR]
    own = token_at(position, params)
    if own == token:
        return UP
    if own == DIAGONAL or own + 1 != token:
        return params[1]
    # A hop of half the loop ends at the same node in both directions, and only one port is wired.
    return UP if 2 * params[JUMPS + position] == params[LOOPS] else DOWN


@rule
def decide(node, header, params):
    """Return the port of the header's first token, and remove the token."""
    token = next_token(header, params)
    if token == NO_TOKEN:
        return ARRIVED
    drop_token(header, params)
    return port_of(node, token, params)


@rule
def start(source, target, header, params):
    """Write the tokens of the paper's path."""
    scratch = np.empty((ROWS, params[MOST] + 1), np.int64)
    hops = np.empty(params[TYPES] + 2, np.int64)
    count = find_path(source, target, scratch, hops, params)
    write_list(scratch[TOKENS], count, header, params)


@rule
def decide_by_position(node, header, params):
    """Return the table's port after a translation of the node's sector to sector 0."""
    size, m = params[0], params[REPRESENTATIVES]
    position = node % m
    # Translations by whole sectors keep ports. Therefore m rows of the table serve all N nodes.
    target = header[0] - node + position
    return entry(params, position * size + (target if target >= 0 else target + size))
