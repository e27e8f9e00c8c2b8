"""Numbers known only by two bounds: exact if the bounds are equal, otherwise partly comparable."""

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
    """A number between two bounds; comparisons with numbers work as far as the bounds decide.

    A comparison with different answers for `lower` and `upper` raises `OutOfReach`.
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
        """Description of the bounds in words."""
        return f"the {self.named} is only known to be {self.lower} to {self.upper}"

    def _compare(self, order: Callable[[Any, Any], bool], sign: str, other: Any) -> Any:
        """Compare both bounds with a number; raise `OutOfReach` if the answers differ."""
        if not isinstance(other, Real):
            return NotImplemented
        if order(self.lower, other) != order(self.upper, other):
            raise self._undecided(sign, other)
        return bool(order(self.upper, other))

    def _undecided(self, sign: str, other: Any) -> OutOfReach:
        """Return the error for a comparison that the bounds do not decide."""
        return OutOfReach(
            f"{self.known}, and {sign} {other} is undecided: allow more effort "
            f"({self.effort}=..), or compare .lower or .upper"
        )
