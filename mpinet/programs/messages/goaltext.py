"""Kernel that parses GOAL text: one pass over its bytes, line by line."""

import numpy as np

from mpinet.base.arrays import Bytes, Ints, Table
from mpinet.base.records import Record
from mpinet.compiled import inlined, kernel, routine
from mpinet.machine.timed.layout import ANY, ANY_TAG, CALC, RECV, SEND

MOST_DIGITS = 15
"""Maximum number of digits of a number: 10^15 bytes or units of time suffice."""

MOST_CPUS = 1 << 16

(
    NO_LINE, NO_RANKS, TWICE_RANKS, NO_RANK, WITHIN, OUTSIDE, NO_LABEL, NO_SIZE, NO_PEER, ANY_PEER,
    LONG, NO_CPU, NO_TAG, OPEN,
) = range(1, 15)  # fmt: skip
"""Codes of errors, for `Reading.wrong`."""

# Keywords are compared as packed integers with seven bits per letter, because the kernel has no
# strings. Nine letters fit into 64 bits.
WORD, NEWLINE, SPACE, COLON, COMMENT, MINUS, SLASH = 7, 10, 32, 58, 35, 45, 47


def packed(word: str) -> int:
    """Return a keyword of up to nine letters as an integer, in the form of `next_word`."""
    number = 0
    for letter in word:
        number = number << WORD | ord(letter)
    return number


NUM_RANKS, RANK, CALC_WORD, SEND_WORD, RECV_WORD = map(
    packed, ("num_ranks", "rank", "calc", "send", "recv")
)
TO, FROM, ANY_WORD, TAG, CPU, NIC = map(packed, ("to", "from", "any", "tag", "cpu", "nic"))
REQUIRES, IREQUIRES, BYTES = map(packed, ("requires", "irequires", "b"))

RANK_COLUMN, KIND, AMOUNT, PEER, TAG_COLUMN, CPU_COLUMN, LINE, LABEL = range(8)
COLUMNS = 7
"""Number of columns per operation."""


class Reading(Record):
    """State of the GOAL parser: position, ranks, current block, and error."""

    at: int
    line: int
    ranks: int  # -1: not stated yet
    rank: int  # rank of the current block; -1: outside
    # Blocks are numbered so the label table need not be cleared: rows of earlier blocks count as
    # empty.
    block: int  # number of the block, from 1
    block_row: int  # first operation of the block
    rows: int
    needs: int
    wrong: int
    wrong_at: int


@inlined
def is_letter(byte):
    """Return whether a byte is part of a word."""
    return (
        (byte >= 97 and byte <= 122)
        or (byte >= 48 and byte <= 57)
        or (byte >= 65 and byte <= 90)
        or byte == 95
    )


@inlined
def is_end(text, at):
    """Return whether a line ends here: at its end, a comment, or a semicolon."""
    byte = text[at]
    return byte in (NEWLINE, COMMENT, 59) or (byte == SLASH and text[at + 1] == SLASH)


@routine
def skipped(text, at):
    """Return the position after blanks."""
    while text[at] == SPACE or text[at] == 9 or text[at] == 13:
        at += 1
    return at


@routine
def behind_any(text, at):
    """Return the end of the word for any source or tag, ``any`` or ``-1``; `at` if it is none."""
    if text[at] == MINUS:
        end, number = number_at(text, at + 1)
        return end if number == 1 and not is_letter(text[end]) else at
    end, word = next_word(text, at)
    return end if word == ANY_WORD else at


@routine
def next_word(text, at):
    """Return the end of a word, and the word as an integer; 0 if the word is too long."""
    word, begin = np.int64(0), at
    while is_letter(text[at]):
        word = word << WORD | np.int64(text[at])
        at += 1
    return at, word if at - begin <= 9 else np.int64(0)


@routine
def number_at(text, at):
    """Return the end and the value of a number; -1: no number, -2: too long."""
    begin, number = at, np.int64(0)
    while text[at] >= 48 and text[at] <= 57:
        # Further digits are skipped, because the number could wrap around and look valid.
        if at - begin < MOST_DIGITS:
            number = 10 * number + text[at] - 48
        at += 1
    if at == begin:
        return at, np.int64(-1)
    return at, number if at - begin <= MOST_DIGITS else np.int64(-2)


@routine
def fail(reading, what, at):
    """Record the first error of the text and its position."""
    # Later errors often follow from the first one. The error message names the cause.
    if reading.wrong == 0:
        reading.wrong, reading.wrong_at = what, at


@routine
def whole_number(text, at, reading, what):
    """Return end and value of an integer after blanks; record an error if there is none."""
    at = skipped(text, at)
    begin = at
    at, number = number_at(text, at)
    if number == -1 or is_letter(text[at]):
        fail(reading, what, begin)
    elif number == -2:
        fail(reading, LONG, begin)
    return at, number


@routine
def label_place(text, begin, end, labels, reading):
    """Return the position of a label in the table, or the empty position for the label.

    A row of the table contains block, position of the label's first byte, length, and operation.
    """
    word = np.int64(0)
    for at in range(begin, end):
        word = np.int64((word * 31 + np.int64(text[at])) & 0xFFFFFFFF)
    # Labels such as l1, l2, l3 differ in their last bytes only. Mixing spreads them; otherwise
    # linear probing would take quadratic time.
    word = ((word ^ word >> 15) * 0x2C1B3C6D) & 0xFFFFFFFF
    mask = labels.shape[0] - 1
    place = (word ^ word >> 13) & mask
    while True:
        row = labels[place]
        if row[0] != reading.block:
            return place
        if row[2] == end - begin:
            same = True
            for k in range(end - begin):
                if text[row[1] + k] != text[begin + k]:
                    same = False
                    break
            if same:
                return place
        place = (place + 1) & mask


@kernel
def measure(text: Bytes, counts: Ints) -> None:
    """Count the lines, the lines with ``requires``, and the lines of the largest block."""
    longest, here = 0, 0
    lines, orders, seen = 0, 0, False
    for at in range(text.size):
        byte = text[at]
        if byte == NEWLINE:
            lines += 1
            here += 1
            if seen:
                orders += 1
            seen = False
        elif byte == 123:
            here = 0
        elif byte == 125:
            longest = max(longest, here + 1)
        # The count only sizes an array, and may be too large. A single byte is the cheapest test
        # that never gives too small a count.
        elif byte == 113:  # a q: in no other keyword of GOAL, possibly in a label
            seen = True
    counts[0], counts[1], counts[2] = lines, orders, longest


@kernel
def parse(text: Bytes, rows: Table, needs: Table, labels: Table, reading: Reading) -> None:
    """Parse the text, which must end with a newline, up to its end or the first error.

    `rows` receives one row per operation. `needs` receives one row per requirement: the operation,
    and the required one with its mark. Operations are numbered in the order of the file.
    """
    parse_lines(text, rows, needs, labels, reading)


@routine
def parse_lines(text, rows, needs, labels, reading):
    """Parse all lines of a GOAL text; see `parse`."""
    at = np.int64(0)
    while at < text.size and reading.wrong == 0:
        reading.line += 1
        at = skipped(text, at)
        if not is_end(text, at):
            at = parse_line(text, at, rows, needs, labels, reading)
            at = skipped(text, at)
            if not is_end(text, at):
                fail(reading, NO_LINE, at)
        while text[at] != NEWLINE:
            at += 1
        at += 1
    if reading.wrong == 0 and (reading.rank >= 0 or reading.ranks < 0):
        fail(reading, OPEN if reading.rank >= 0 else NO_RANKS, at)


@routine
def parse_line(text, at, rows, needs, labels, reading):
    """Parse one line of a GOAL text; return the position of its end."""
    if text[at] == 125:
        if reading.rank < 0:
            fail(reading, OUTSIDE, at)
        reading.rank = -1
        return at + 1
    begin = at
    at, word = next_word(text, at)
    end = at
    at = skipped(text, at)
    # A colon after the first word makes the word a label. A label may therefore be spelt like a
    # keyword.
    if text[at] == COLON and end > begin:
        at = skipped(text, at + 1)
        at, word = next_word(text, at)
        return parse_operation(text, at, word, begin, end, rows, labels, reading)
    if word in (CALC_WORD, SEND_WORD, RECV_WORD):
        return parse_operation(text, at, word, begin, begin, rows, labels, reading)
    if word in (NUM_RANKS, RANK):
        return parse_head(text, at, word, reading)
    if end == begin:
        fail(reading, NO_LINE, at)
        return at
    return parse_order(text, at, begin, end, needs, labels, reading)


@routine
def parse_head(text, at, word, reading):
    """Parse the number of ranks, or the start of a rank's block."""
    if reading.rank >= 0:
        fail(reading, WITHIN, at)
        return at
    at, number = whole_number(text, at, reading, NO_LINE)
    if word == NUM_RANKS:
        if reading.ranks >= 0:
            fail(reading, TWICE_RANKS, at)
        reading.ranks = number
        return at
    if number >= reading.ranks:
        fail(reading, NO_RANK if reading.ranks >= 0 else NO_RANKS, at)
    at = skipped(text, at)
    if text[at] != 123:
        fail(reading, NO_LINE, at)
    reading.rank = number
    reading.block += 1
    reading.block_row = reading.rows
    return at + 1


@routine
def parse_order(text, at, begin, end, needs, labels, reading):
    """Parse a requirement of one operation on another, given by labels."""
    if reading.rank < 0:
        fail(reading, NO_LINE, begin)
        return at
    at, word = next_word(text, at)
    if word != REQUIRES and word != IREQUIRES:
        fail(reading, NO_LINE, begin)
        return at
    at = skipped(text, at)
    other = at
    at, _ = next_word(text, at)
    later = label_place(text, begin, end, labels, reading)
    earlier = label_place(text, other, at, labels, reading)
    for place, where in ((later, begin), (earlier, other)):
        if labels[place, 0] != reading.block:
            fail(reading, NO_LABEL, where)
    row = needs[reading.needs]
    row[0], row[1] = labels[later, 3], labels[earlier, 3] << 1 | (word == IREQUIRES)
    reading.needs += 1
    return at


@routine
def parse_operation(text, at, word, begin, end, rows, labels, reading):
    """Parse an operation after its first word, and record its label."""
    row = rows[reading.rows]
    if reading.rank < 0:
        fail(reading, OUTSIDE, begin)
    kind = CALC if word == CALC_WORD else (SEND if word == SEND_WORD else RECV)
    if kind == RECV and word != RECV_WORD:
        fail(reading, NO_LINE, begin)
    at = skipped(text, at)
    size_at = at
    at, number = number_at(text, at)
    if number == -2:
        fail(reading, LONG, size_at)
    # Sizes are written as 1024b in most files, and without the letter in some.
    if kind != CALC and text[at] == 98:
        at += 1
    if number < (0 if kind == CALC else 1) or is_letter(text[at]):
        fail(reading, NO_SIZE, size_at)
    row[RANK_COLUMN], row[KIND], row[AMOUNT], row[LINE] = reading.rank, kind, number, reading.line
    row[PEER], row[TAG_COLUMN], row[CPU_COLUMN] = ANY, 0, 0
    if kind != CALC:
        at = parse_peer(text, at, kind, row, reading)
    at = parse_rest(text, at, kind, row, reading)
    if end > begin:
        place = label_place(text, begin, end, labels, reading)
        labels[place, 0], labels[place, 1] = reading.block, begin
        labels[place, 2], labels[place, 3] = end - begin, reading.rows
    reading.rows += 1
    return at


@routine
def parse_peer(text, at, kind, row, reading):
    """Parse the peer of a send or receive."""
    at = skipped(text, at)
    place = at
    at, word = next_word(text, at)
    if word != (TO if kind == SEND else FROM):
        fail(reading, NO_PEER, place)
    at = skipped(text, at)
    place = at
    end = behind_any(text, at)
    if end > at:
        if kind == SEND:
            fail(reading, ANY_PEER, place)
        return end
    at, number = whole_number(text, at, reading, NO_PEER)
    if number >= reading.ranks:
        fail(reading, NO_RANK, place)
    row[PEER] = number
    return at


@routine
def parse_rest(text, at, kind, row, reading):
    """Parse the optional tag, CPU and NIC of an operation."""
    while True:
        at = skipped(text, at)
        if is_end(text, at):
            return at
        place = at
        at, word = next_word(text, at)
        if word == TAG and kind != CALC:
            at = skipped(text, at)
            end = behind_any(text, at)
            if end > at and kind == RECV:
                at, number = end, np.int64(ANY_TAG)
            else:
                at, number = whole_number(text, at, reading, NO_TAG)
                if number >= ANY_TAG:
                    fail(reading, NO_TAG, place)
            row[TAG_COLUMN] = number
        elif word in (CPU, NIC):
            at, number = whole_number(text, at, reading, NO_CPU)
            if word == CPU:
                if number >= MOST_CPUS:
                    fail(reading, NO_CPU, place)
                row[CPU_COLUMN] = number
        else:
            fail(reading, NO_LINE, place)
            return at
