"""The checker's judgement of a search's own certificates: a refused bound does not count.

A refusal indicates an error in the search or the checker, but does not end the run. The search
continues with the next lower bound that the checker accepts, and the command reports the refused
bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mpinet.errors import CertificateError, ConservationError


@dataclass
class SelfCheck:
    """The bounds of a search that its own check refused.

    Examples
    --------
    >>> found = SelfCheck()
    >>> found.accepts(3, "cut", lambda: None)
    True
    """

    refused: list[dict[str, Any]] = field(default_factory=list)
    """Lower bound, kind of proof (``by``) and the checker's reason of each rejected bound."""

    def accepts(self, lower: int, by: str, check: Callable[[], object]) -> bool:
        """Return whether a bound passes its check; a refused bound is stored with the reason.

        Parameters
        ----------
        lower : int
            The bound, in steps or channels.
        by : str
            The kind of its certificate.
        check : callable
            Raises `CertificateError` or `ConservationError` if the certificate does not hold.
        """
        try:
            check()
        except (CertificateError, ConservationError) as error:
            self.refuse(lower, by, str(error))
            return False
        return True

    def refuse(self, lower: int, by: str, reason: str) -> None:
        """Store a bound that cannot be proved, with the reason."""
        self.refused.append({"lower": lower, "by": by, "reason": reason})
