"""The Kautz graph: words without two equal letters in succession, shifted by one letter."""

from __future__ import annotations

from mpinet.compiled import inlined, rule
from mpinet.networks.parameters import whole_number
from mpinet.networks.routing import ARRIVED, longer_routings
from mpinet.networks.topology import Topology

DEGREE, LENGTH, TAILS = 2, 3, 4
"""Places in the rules' parameters: d, k, and the number d^(k-1) of words with the same first
letter.
"""


@rule
def decide(node, header, params):
    """Return the port that appends the next letter of the target after the longest overlap.

    The overlap is the longest end of the word with which the target begins. A route has at most k
    hops. The route is not always shortest, because the rule never shifts to the right.
    """
    target = header[0]
    if node == target:
        return ARRIVED
    d, tails = params[DEGREE], params[TAILS]
    start, letter = target // tails, node // tails
    # The longest overlap is found from the longest candidate down. Numbers of words shrink by one
    # digit per iteration, and no word is built.
    behind, skipped = tails, 1
    while behind > 1:  # d to the number of later letters
        behind //= d
        letter = (letter + 1 + node // behind % d) % (d + 1)
        skipped *= d
        if letter == start and node % behind == target % tails // skipped:
            return target % tails // (skipped // d) % d
    return (start - letter - 1) % (d + 1)


class Kautz(Topology):
    """Kautz graph K(d,k): (d+1) d^(k-1) words of k letters 0..d (Kautz 1968).

    The number of a word has its first letter as the highest digit. Each further letter is a digit
    of d values: its distance ahead of the previous letter. Ports: d shifts to the left, which
    append a letter, then d shifts to the right. If two ports lead to the same processor, the later
    port is not wired.
    """

    parameters = (whole_number("d", 2, 2**20), whole_number("k", 2, 61))
    example = "kautz:2,4"
    paper = "Kautz 1968"

    def __init__(self, d: int, k: int):
        self.letters = d + 1
        self.length = k
        tails = d ** (k - 1)
        size = self.letters * tails
        super().__init__(
            f"{d},{k}", size=size, ports=2 * d, params=[d, k, tails], stated={"size": size}
        )

    @rule
    def neighbor(node, port, params):
        """Return the word shifted to the left, or to the right if the result differs."""
        d = params[DEGREE]
        if port < d:
            return shifted_left(node, port, params)
        other = shifted_right(node, port - d, params)
        # A shift to the right may lead to the same word as a shift to the left. Such a link exists
        # once, and the later port is not wired.
        return -1 if shifted_left(node, other % d, params) == other else other

    @rule
    def reverse_port(node, port, params):
        """Return the port of the shift that restores the lost letter, to the left if possible."""
        d, tails = params[DEGREE], params[TAILS]
        if port >= d:
            return node % d
        other = shifted_left(node, port, params)
        if shifted_left(other, node % d, params) == node:
            return node % d
        return d + (other // tails - node // tails - 1) % (d + 1)

    def _address(self, node: int) -> str:
        """Return the letters, joined by ``-``."""
        d, word = self.letters - 1, []
        for place in range(self.length - 1, 0, -1):
            word.append(node // d ** (place - 1) % d)
        letters = [node // d ** (self.length - 1)]
        for ahead in word:
            letters.append((letters[-1] + 1 + ahead) % self.letters)
        return "-".join(map(str, letters))

    def read_address(self, address: str) -> int:
        """Return the number of the word with these letters."""
        letters = [int(letter) for letter in address.split("-")]
        if len(letters) != self.length or not all(0 <= x < self.letters for x in letters):
            raise ValueError(f"{address} has other letters or another length")
        number = letters[0]
        for i in range(1, self.length):
            if letters[i] == letters[i - 1]:
                raise ValueError(f"{address} repeats a letter")
            number = number * (self.letters - 1) + (letters[i] - letters[i - 1] - 1) % self.letters
        return number

    routings = longer_routings(shift=decide)


@inlined
def shifted_left(node, ahead, params):
    """Return the word without its first letter and with a new last letter.

    The new letter is `ahead` + 1 ahead of the old last letter.
    """
    d, tails = params[DEGREE], params[TAILS]
    rest = node % tails
    second = rest // (tails // d)
    first = (node // tails + 1 + second) % (d + 1)
    return first * tails + rest % (tails // d) * d + ahead


@inlined
def shifted_right(node, ahead, params):
    """Return the word without its last letter and with a new first letter.

    The old first letter is `ahead` + 1 ahead of the new one.
    """
    d, tails = params[DEGREE], params[TAILS]
    first = (node // tails - 1 - ahead) % (d + 1)
    return first * tails + ahead * (tails // d) + node % tails // d
