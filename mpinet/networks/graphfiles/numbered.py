"""Edge lists of whole numbers only, read into an array without an object per link."""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Bytes, Table
from mpinet.compiled import kernel

COMMENT, COMMA, ZERO, NINE = ord("#"), ord(","), ord("0"), ord("9")
TAB, LINE_FEED, RETURN, SPACE, LAST_SIGN = ord("\t"), ord("\n"), ord("\r"), ord(" "), ord("~")

MOST_DIGITS = 18
"""Digits of the largest labels that this module reads, which fit into 64 bits."""


def read_numbers(data: bytes) -> Table | None:
    """Read an edge list in which each line is two whole numbers, blank or a comment.

    Returns
    -------
    ndarray of int64, shape (L, 2), or None
        The labels of every link's ends, in the order of the file. None if the file has no links, or
        anything else: attributes, other labels, numbers with leading zeros.
    """
    text = np.array(np.frombuffer(data, np.uint8))  # compiled code needs a writable array
    ends = np.empty((data.count(b"\n") + data.count(b"\r") + 1, 2), np.int64)
    links = take_links(text, ends)
    return ends[:links] if links > 0 else None


@kernel
def take_links(text: Bytes, ends: Table) -> int:
    """Write both labels of every link of an edge list of numbers; return the number of links.

    Returns -1 if the list has anything else. `ends` has a row for each line.
    """
    links, words, number, digits, comment = 0, 0, 0, 0, False
    for place in range(text.size + 1):
        sign = text[place] if place < text.size else LINE_FEED
        ends_line = sign in (LINE_FEED, RETURN)
        if comment and not ends_line:
            if (sign < SPACE and sign != TAB) or sign > LAST_SIGN:
                return -1  # the character may end the line, or the file may not be text
            continue
        if ZERO <= sign <= NINE:
            if digits == MOST_DIGITS or (digits > 0 and number == 0):
                return -1
            number, digits = 10 * number + (sign - ZERO), digits + 1
            continue
        if digits > 0:
            if words == 2:
                return -1
            ends[links, words] = number
            words, number, digits = words + 1, 0, 0
        comment = sign == COMMENT
        if ends_line:
            if words == 1:
                return -1
            links, words = links + (words == 2), 0
        elif not (comment or sign in (SPACE, TAB, COMMA)):
            return -1
    return links
