"""Orders: rules for resolving choice points, one after another.

`SeededOrder` draws from a seed. `PrefixReplay` resolves one choice point at a time: it follows a
given prefix, then takes the first option that no other run has covered.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from random import Random
from typing import NamedTuple, Protocol

from mpinet.errors import MpinetError, UsageError
from mpinet.machine import Machine

Place = tuple[int, int]
"""A processor, and the index of its chosen option among all its options; 0 is the first."""


class Choice(NamedTuple):
    """An option: a message that a processor can receive, or one of its completed requests."""

    processor: int
    """Number of the processor that chooses."""
    event: int
    """Number of the receive or wait among the processor's choice points."""
    label: int
    """The sender's rank, or the index of the request."""


Choices = Sequence[list[Choice]]
"""Options of each processor of this rank that has any."""


class Orders(Protocol):
    """Interface of classes that choose the order."""

    def decide(self, machine: Machine, choices: Choices) -> list[Choice]:
        """Choose options of this rank's processors, at most one per processor (collective)."""


class SeededOrder:
    """A random order: at each quiescence, about half of the processors with options proceed.

    Parameters
    ----------
    seed : int or str
        The seed.
    """

    def __init__(self, seed: int | str):
        self._seed = seed
        self._moment = 0

    def decide(self, machine: Machine, choices: Choices) -> list[Choice]:
        """Draw the processors to proceed, and an option for each."""
        self._moment += 1
        chosen = []
        for options in choices:
            # Keyed by processor and moment. A draw depends neither on the hosting rank nor on other
            # draws.
            draws = Random(f"{self._seed} {options[0].processor} {self._moment}")
            # About half of the processors wait for a later moment. Otherwise all choices of a
            # moment would happen together, and late arrivals would never compete.
            if draws.random() < 0.5:
                chosen.append(options[draws.randrange(len(options))])
        return chosen


class Redundant(MpinetError):
    """A run whose outcome can only repeat the outcome of an earlier run."""


class PrefixReplay:
    """An order that replays a given prefix of choices, then takes unexplored options.

    Parameters
    ----------
    places : sequence of Place
        The prefix: processor and option of each choice, in order.
    asleep : collection of Choice
        Options that need no exploration after the prefix, until their processor has made another
        choice.
    """

    def __init__(self, places: Sequence[Place], asleep: Collection[Choice] = ()):
        self.moments: list[tuple[Choice, list[Choice]]] = []
        """Choice of each moment and the options at that moment: all options on the rank that makes
        the choice, this rank's options elsewhere.
        """
        self._places = places
        # The sleep set of Godefroid's partial-order reduction: exploring these options from here
        # would repeat an earlier run.
        self._asleep = set(asleep)

    def decide(self, machine: Machine, choices: Choices) -> list[Choice]:
        """Choose the next option: from the prefix, then any unexplored one.

        Raises
        ------
        UsageError
            The prefix does not fit this program (raised on every rank).
        Redundant
            All remaining options have been explored (raised on every rank).
        """
        moment = len(self.moments)
        here = [option for options in choices for option in options]
        if moment < len(self._places):
            processor, place = self._places[moment]
            # At most one rank hosts the processor. The other ranks choose nothing and learn of
            # success from the sum.
            wanted = [option for option in here if option.processor == processor][place:][:1]
            # Summed over the ranks: an order of another program fails on all ranks with the same
            # message.
            if not machine.sum(len(wanted))[0]:
                raise UsageError(
                    f"Cannot follow the order: choice {moment + 1} is {processor}:{place}, but "
                    f"processor {processor} has no such choice. The order is for another program."
                )
        else:
            awake = [option for option in here if option not in self._asleep]
            none = machine.topology.size
            # After the prefix the lowest processor chooses first. Any fixed rule is correct,
            # because the search returns to every choice point.
            own = min((option.processor for option in awake), default=none)
            # A step offers only sum and maximum as reductions. The minimum is a negated maximum.
            lowest = -machine.max(-own)[0]
            if lowest == none:
                # Every remaining option commutes with choices of earlier runs. Finishing this run
                # could only repeat one of their outcomes.
                raise Redundant("All remaining choices have been explored.")
            wanted = [option for option in awake if option.processor == lowest][:1]
            # Options of the chosen processor wake up, because their effects may depend on this
            # choice. Options of other processors commute with it and stay asleep.
            self._asleep = {one for one in self._asleep if one.processor != lowest}
        self.moments.append((wanted[0] if wanted else ELSEWHERE, here))
        return wanted


ELSEWHERE = Choice(-1, -1, -1)
"""Stands for a choice made on another rank."""


def order_of(text: str) -> list[Place]:
    """Parse an order, for example ``0:1,2:0``.

    Raises
    ------
    ValueError
        The text is not an order.
    """
    if not re.fullmatch(r"\d{1,9}:\d{1,9}(,\d{1,9}:\d{1,9})*", text):
        raise ValueError(
            f"expected an order PROCESSOR:CHOICE,.. as printed by --arrivals all, not {text!r}"
        )
    words = (word.split(":") for word in text.split(","))
    return [(int(processor), int(place)) for processor, place in words]


def order_text(places: Sequence[Place]) -> str:
    """Return an order as text that `order_of` can parse."""
    return ",".join(f"{processor}:{place}" for processor, place in places)
