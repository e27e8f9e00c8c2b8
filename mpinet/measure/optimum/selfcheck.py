"""The checker's word on a search's own certificates: a bound that it refuses counts for nothing.

A refusal is a fault of the search or of the checker, and costs nobody a run: the search goes on
with the next lower bound that the checker accepts, and the command says what could not be shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mpinet.errors import CertificateError, ConservationError


@dataclass
class SelfCheck:
    """The bounds of a search that its own check did not accept.

    Examples
    --------
    >>> found = SelfCheck()
    >>> found.accepts(3, "cut", lambda: None)
    True
    """

    refused: list[dict[str, Any]] = field(default_factory=list)
    """Lower bound, kind of proof (``by``) and the checker's reason of each rejected bound."""

    def accepts(self, lower: int, by: str, check: Callable[[], object]) -> bool:
        """Tell if a bound passes its check; what does not is kept with the reason.

        Parameters
        ----------
        lower : int
            The bound, in steps or channels.
        by : str
            The kind of its certificate.
        check : callable
            Raises `CertificateError`, or `ConservationError`, where the certificate does not hold.
        """
        try:
            check()
        except (CertificateError, ConservationError) as error:
            self.refuse(lower, by, str(error))
            return False
        return True

    def refuse(self, lower: int, by: str, reason: str) -> None:
        """Keep a bound that cannot be shown, with the reason."""
        self.refused.append({"lower": lower, "by": by, "reason": reason})
