"""Numbers of which two bounds are known: exact where these meet, else as far as they decide."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import astuple, dataclass
from numbers import Real
from typing import Any, ClassVar

from mpinet.base.fielddocs import described
from mpinet.errors import OutOfReach


@described
@dataclass(frozen=True, eq=False)
class Bounded:
    """A number between two bounds; it compares with numbers as far as the bounds decide.

    A comparison that `lower` and `upper` answer differently raises `OutOfReach`.
    """

    lower: int
    """Lower bound of the number."""
    upper: int
    """Upper bound of the number."""
    exact: bool
    """True if both bounds are equal."""

    named: ClassVar[str] = "number"
    effort: ClassVar[str] = ""

    def __lt__(self, other: float) -> Any:
        return self._compare(operator.lt, "<", other)

    def __le__(self, other: float) -> Any:
        return self._compare(operator.le, "<=", other)

    def __gt__(self, other: float) -> Any:
        return self._compare(operator.gt, ">", other)

    def __ge__(self, other: float) -> Any:
        return self._compare(operator.ge, ">=", other)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Bounded):
            return type(self) is type(other) and astuple(self) == astuple(other)
        if not isinstance(other, Real):
            return NotImplemented
        number: Any = other
        if self.exact or not self.lower <= number <= self.upper:
            return bool(self.upper == number)
        raise self._undecided("==", number)

    def __hash__(self) -> int:
        return hash(self.upper if self.exact else astuple(self))

    @property
    def known(self) -> str:
        """Say in words what is known of it."""
        return f"the {self.named} is only known to be {self.lower} to {self.upper}"

    def _compare(self, order: Callable[[Any, Any], bool], sign: str, other: Any) -> Any:
        """Compare both bounds; raise `OutOfReach` where they disagree."""
        if not isinstance(other, Real):
            return NotImplemented
        if order(self.lower, other) != order(self.upper, other):
            raise self._undecided(sign, other)
        return bool(order(self.upper, other))

    def _undecided(self, sign: str, other: Any) -> OutOfReach:
        """Return the error for a comparison that the bounds do not decide."""
        return OutOfReach(
            f"{self.known}, which does not tell whether it is {sign} {other}: allow more effort "
            f"({self.effort}=..), or compare .lower or .upper"
        )
