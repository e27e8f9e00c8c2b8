"""Reconstruction of wiring from routes: links' ends from the order of links on routes.

A platform names links and the order in which routes pass these links, but not the nodes where
links meet. A route of one link gives both ends of the link. Between the links of a longer route lie
junctions, which have no names. Junctions are identified with each other if routes share links. No
route changes its length.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import zip_longest

End = str | int
"""A node's name, or the number of a junction."""

Ends = dict[End, None]
"""Ordered set of ends, in the order of insertion."""


class Laying:
    """Links with their ends, as far as the routes read so far determine these."""

    def __init__(self) -> None:
        self._cables = dict[str, dict[End, Ends]]()
        """For each link and each of its ends, the ends on the other side of the link."""
        self._links = defaultdict[End, dict[str, None]](dict)
        """Links at each end."""
        self._same = list[End]()
        """For each junction, the end with which it was merged, or the junction itself."""

    def walk(self, links: Sequence[str], u: str, v: str) -> list[End]:
        """Place the links of a route that have no ends yet; return the ends on the route.

        No end occurs twice, so the number of hops is the number of links.
        """
        way: list[End] = [u]
        for link, after in zip_longest(links, links[1:]):
            passed = {self.found(end) for end in way} | ({v} if after is not None else set())
            way.append(self._step(link, way[-1], after, v, passed))
        return way

    def found(self, end: End) -> End:
        """Return the representative of an end after merging."""
        while isinstance(end, int) and self._same[end] != end:
            end = self._same[end]
        return end

    def cables(self) -> Iterator[tuple[str, list[tuple[End, End]]]]:
        """Yield each link with all pairs of its ends."""
        for link, places in self._cables.items():
            pairs = {frozenset((one, other)): (one, other)
                     for one, others in places.items() for other in others}  # fmt: skip
            yield link, [*pairs.values()]

    def _step(self, link: str, at: End, after: str | None, target: str, passed: set[End]) -> End:
        """Follow a link from an end to an end not yet on the route; return the latter."""
        at = self.found(at)
        places = self._cables.setdefault(link, {})
        here = [far for far in places.get(at, ()) if far not in passed]
        on = self._ends_of(after, target)
        for far in here:
            if far in on or (after is not None and len(here) == 1):
                return far
        for far in [end for end in places if end in on and end not in passed]:
            for near in [*places[far]]:
                if near not in passed and self._join(at, near):
                    return self.found(far)
        if after is not None:
            self._same.append(len(self._same))
            return self._lay(link, at, len(self._same) - 1)
        known = any(self._join(far, target) for far in here)
        return target if known else self._lay(link, at, target)

    def _ends_of(self, after: str | None, target: str) -> dict[End, Ends]:
        """Return the ends of the next link of a route, or the target after the last link."""
        return {target: {}} if after is None else self._cables.get(after, {})

    def _lay(self, link: str, one: End, other: End) -> End:
        """Place a link between two ends; return the second end."""
        for near, far in ((one, other), (other, one)):
            self._cables[link].setdefault(near, {})[far] = None
            self._links[near][link] = None
        return other

    def _join(self, one: End, other: End) -> bool:
        """Merge two ends; return False if both have names, or a link would become a loop."""
        one, other = self.found(one), self.found(other)
        if isinstance(other, int):
            one, other = other, one
        joined = any(other in self._cables[link][one] for link in self._links[one])
        if not isinstance(one, int) or one == other or joined:
            return False
        self._same[one] = other
        for link in self._links.pop(one):
            for far in self._cables[link].pop(one):
                del self._cables[link][far][one]
                self._lay(link, other, far)
        return True
