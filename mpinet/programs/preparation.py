"""The steps that processors take before a collective, so that each knows its part."""

from __future__ import annotations

from dataclasses import dataclass

from mpinet.machine import Machine


@dataclass(frozen=True)
class Preparation:
    """Cost of preparing a collective, on a machine beside the one that is measured."""

    steps: int = 0
    """Steps of the preparation; None if every processor knows its part from its own number."""
    messages: int = 0
    """Messages of the preparation."""

    @staticmethod
    def on(survey: Machine) -> Preparation:
        """All that was done on a machine beside (collective)."""
        return Preparation(survey.steps, survey.sum(survey.meters.messages)[0])

    def __add__(self, other: Preparation) -> Preparation:
        return Preparation(self.steps + other.steps, self.messages + other.messages)


NONE = Preparation()
