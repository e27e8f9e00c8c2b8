"""Orders: which choice points are resolved first, and how.

`SeededOrder` draws by a seed. `PrefixReplay` resolves one choice point at a time: first as a given
prefix says, then by the first option that no other run has covered.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from random import Random
from typing import NamedTuple, Protocol

from mpinet.errors import MpinetError, UsageError
from mpinet.machine import Machine

Place = tuple[int, int]
"""A processor, and which of all that it can get: 0 is the first."""


class Choice(NamedTuple):
    """A message that a processor can get, or one of its requests that is complete."""

    processor: int
    """The processor."""
    event: int
    """The receive or wait, by its place among those of this processor."""
    label: int
    """The sender's rank, or the place of the request."""


Choices = Sequence[list[Choice]]
"""All that each of this rank's processors can get that can get something."""


class Orders(Protocol):
    """Choice of the order."""

    def decide(self, machine: Machine, choices: Choices) -> list[Choice]:
        """Choose what this rank's processors get now, of a processor one at most (collective)."""


class SeededOrder:
    """An order that is drawn: about half of those that can get something do so at a time.

    Parameters
    ----------
    seed : int
        The seed.
    """

    def __init__(self, seed: int):
        self._seed = seed
        self._moment = 0

    def decide(self, machine: Machine, choices: Choices) -> list[Choice]:
        """Draw."""
        self._moment += 1
        chosen = []
        for options in choices:
            # Keyed by processor and moment, so that a draw does not depend on which rank hosts the
            # processor or on other draws.
            draws = Random(f"{self._seed} {options[0].processor} {self._moment}")
            # About half wait for a later moment. Otherwise all choices of a moment would happen
            # together, and late arrivals would never compete.
            if draws.random() < 0.5:
                chosen.append(options[draws.randrange(len(options))])
        return chosen


class Redundant(MpinetError):
    """A run that can only end as another one that has been made."""


class PrefixReplay:
    """An order of which the beginning is given.

    Parameters
    ----------
    places : sequence of Place
        Who gets what, one after the other.
    asleep : collection of Choice
        What need not be tried behind these, until its processor has got something else.
    """

    def __init__(self, places: Sequence[Place], asleep: Collection[Choice] = ()):
        self.moments: list[tuple[Choice, list[Choice]]] = []
        """Choice of each moment, and the options of that moment: all options on the rank of the
        choice, this rank's options elsewhere."""
        self._places = places
        # The sleep set of Godefroid's partial-order reduction: options whose exploration from here
        # would repeat a run that was made.
        self._asleep = set(asleep)

    def decide(self, machine: Machine, choices: Choices) -> list[Choice]:
        """Choose the next.

        Raises
        ------
        UsageError
            It cannot be followed (on every rank).
        Redundant
            All that is left was tried (on every rank).
        """
        moment = len(self.moments)
        here = [option for options in choices for option in options]
        if moment < len(self._places):
            processor, place = self._places[moment]
            # At most one rank hosts the processor. The others choose nothing, and learn of success
            # by the sum.
            wanted = [option for option in here if option.processor == processor][place:][:1]
            # Summed over the ranks: an order of another program fails on all of them with the same
            # sentence.
            if not machine.sum(len(wanted))[0]:
                raise UsageError(
                    f"The order cannot be followed: choice {moment + 1} is {processor}:{place}, "
                    f"and processor {processor} cannot choose so there. It is another program's."
                )
        else:
            awake = [option for option in here if option not in self._asleep]
            none = machine.topology.size
            # Beyond the prefix the lowest processor goes first. Any fixed rule would do, as the
            # search returns to every choice point.
            own = min((option.processor for option in awake), default=none)
            # A minimum over ranks by way of a maximum, the only reduction beside the sum that a
            # step has.
            lowest = -machine.max(-own)[0]
            if lowest == none:
                # Every remaining option commutes with what other runs did. Finishing this run could
                # only repeat one of their outcomes.
                raise Redundant("All that is left was tried.")
            wanted = [option for option in awake if option.processor == lowest][:1]
            # Options of the chosen processor wake up: what they lead to may depend on this choice.
            # Those of others commute with it and stay asleep.
            self._asleep = {one for one in self._asleep if one.processor != lowest}
        self.moments.append((wanted[0] if wanted else ELSEWHERE, here))
        return wanted


ELSEWHERE = Choice(-1, -1, -1)
"""Choice of another rank."""


def order_of(text: str) -> list[Place]:
    """Read an order: ``0:1,2:0``.

    Raises
    ------
    ValueError
        It is none.
    """
    if not re.fullmatch(r"\d{1,9}:\d{1,9}(,\d{1,9}:\d{1,9})*", text):
        raise ValueError(
            f"an order is PROCESSOR:CHOICE,.. as --arrivals all prints it, not {text!r}"
        )
    words = (word.split(":") for word in text.split(","))
    return [(int(processor), int(place)) for processor, place in words]


def order_text(places: Sequence[Place]) -> str:
    """Return an order as `order_of` reads it."""
    return ",".join(f"{processor}:{place}" for processor, place in places)
