"""Preparation of a collective: steps in which each processor learns its part."""

from __future__ import annotations

from dataclasses import dataclass

from mpinet.machine import Machine


@dataclass(frozen=True)
class Preparation:
    """Cost of preparing a collective, on a machine separate from the measured one."""

    steps: int = 0
    """Number of steps of the preparation; None if every processor knows its part from its own
    number.
    """
    messages: int = 0
    """Number of messages of the preparation."""

    @staticmethod
    def on(survey: Machine) -> Preparation:
        """Return all steps and messages of a separate machine (collective)."""
        return Preparation(survey.steps, survey.sum(survey.meters.messages)[0])

    def __add__(self, other: Preparation) -> Preparation:
        return Preparation(self.steps + other.steps, self.messages + other.messages)


NONE = Preparation()
