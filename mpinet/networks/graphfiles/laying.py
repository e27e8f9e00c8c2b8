"""Links laid where routes lead: two ends for each, found from the order of links on the routes.

A platform names links and the order in which routes pass them, but not where they meet. A route of
one link tells both ends of the link. Between the links of a longer route lie junctions, which have
no names; routes that share links tell which junctions are the same. No route changes its length.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

End = str | int
"""A node's name, or the number of a junction."""


@dataclass(eq=False)
class Cable:
    """A link between two ends; a link of several pairs of ends is laid several times."""

    ends: tuple[End, End]


@dataclass
class Laying:
    """Links while they are laid."""

    cables: dict[str, list[Cable]] = field(default_factory=lambda: defaultdict(list))
    """The places of each link."""
    _same: list[End] = field(default_factory=list)
    """For each junction the end that it is the same as, or itself."""
    _beside: dict[End, set[End]] = field(default_factory=lambda: defaultdict(set))
    """The ends that are joined to each by a cable."""

    def walk(self, links: Sequence[str], u: str, v: str) -> list[End]:
        """Lay the links of a route that are not there yet; return the ends that it passes.

        No end is passed twice, so that the route is as long as it has links.
        """
        way: list[End] = [u]
        for link, after in zip_longest(links, links[1:]):
            passed = {self.found(end) for end in way} | ({v} if after is not None else set())
            way.append(self._step(link, way[-1], after, v, passed))
        return way

    def found(self, end: End) -> End:
        """Return the end that stands for all those that are the same."""
        while isinstance(end, int) and self._same[end] != end:
            end = self._same[end]
        return end

    def ends_of(self, cable: Cable) -> tuple[End, End]:
        """Return the ends of a cable as they are known now."""
        one, other = cable.ends
        return self.found(one), self.found(other)

    def _step(self, link: str, at: End, after: str | None, target: str, passed: set[End]) -> End:
        """Pass a link from an end to one that is not passed; return this other end."""
        at = self.found(at)
        places = [(near, far) for near, far in self._placed(link) if far not in passed]
        here = [far for near, far in places if near == at]
        for far in here:
            if self._leads_on(far, after, target) or (after is not None and len(here) == 1):
                return far
        for near, far in places:
            if self._leads_on(far, after, target) and near not in passed and self._join(at, near):
                return self.found(far)
        if after is None:
            return (
                target
                if any(self._join(far, target) for far in here)
                else self._lay(link, at, target)
            )
        self._same.append(len(self._same))
        return self._lay(link, at, len(self._same) - 1)

    def _placed(self, link: str) -> list[tuple[End, End]]:
        """Return the ends of a link's cables, in either order."""
        pairs = [self.ends_of(cable) for cable in self.cables.get(link, ())]
        return [*pairs, *((other, one) for one, other in pairs)]

    def _leads_on(self, end: End, after: str | None, target: str) -> bool:
        """Tell if the next link of a route is known to begin at an end, or the route to end."""
        if after is None:
            return end == target
        return any(near == end for near, _ in self._placed(after))

    def _lay(self, link: str, one: End, other: End) -> End:
        """Lay a link between two ends; return the second one."""
        self.cables[link].append(Cable((one, other)))
        self._beside[one].add(other)
        self._beside[other].add(one)
        return other

    def _join(self, one: End, other: End) -> bool:
        """Take two ends for the same; False if both have names, or a cable would become a loop."""
        one, other = self.found(one), self.found(other)
        if isinstance(other, int):
            one, other = other, one
        if not isinstance(one, int) or one == other or other in self._beside[one]:
            return False
        self._same[one] = other
        for end in self._beside.pop(one):
            self._beside[end].discard(one)
            self._beside[end].add(other)
            self._beside[other].add(end)
        return True
