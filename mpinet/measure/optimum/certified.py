"""The common part of searches for optima: a bound counts by a certificate that is checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Protocol

from mpinet.certify.certificate import FORM, Proofs, busses_sha256, check
from mpinet.certify.lrat import refuted
from mpinet.certify.network import Network
from mpinet.certify.work import UNLIMITED
from mpinet.errors import ConservationError
from mpinet.measure.optimum.rup import lrat_of
from mpinet.measure.optimum.selfcheck import SelfCheck
from mpinet.networks.topology import Topology


class CheckedFormula(Protocol):
    """A formula that a solver was asked about."""

    @property
    def clauses(self) -> Sequence[Sequence[int]]:
        """Clauses, as the checker writes them."""


@dataclass
class Certified:
    """Base of the searches: the network, and the certificate of the best bound so far."""

    topology: Topology
    """The network."""
    certificate: dict[str, Any] = field(default_factory=dict, kw_only=True)
    """Certificate of the lower bound; empty without one."""
    proof: list[str] | None = field(default=None, kw_only=True)
    """The lines of its proof, where it has one."""
    limited: bool = field(default=False, kw_only=True)
    """True if a longer search could improve the bounds."""
    selfcheck: SelfCheck = field(default_factory=SelfCheck, kw_only=True)
    """Bounds that the checker did not accept."""
    lower: int = field(default=0, kw_only=True)
    """Lower bound: steps of a collective, or channels of a cut."""
    lower_by: str | None = field(default=None, kw_only=True)
    """Kind of proof of the lower bound; None if there is nothing to prove."""
    bounds: dict[str, int] = field(default_factory=dict, kw_only=True)
    """Lower bound of each kind of proof, by its name."""

    @cached_property
    def network(self) -> Network:
        """The network as the checker sees it."""
        return Network.of(self.topology)

    @property
    def edges_sha256(self) -> str:
        """The network's, as `mpinet show` has it."""
        return self.network.edges_sha256

    def document(self, claim: dict[str, Any], kind: str, body: dict[str, Any]) -> dict[str, Any]:
        """Make a certificate: what is claimed of this network, and what shows it."""
        made: dict[str, Any] = {"mpinet": FORM, "kind": kind, "claim": claim}
        made |= {"network": self.topology.name, "edges_sha256": self.edges_sha256}
        made["fabric"] = self.network.fabric
        # The edges' hash does not tell one bus of three members from three busses of two. The
        # members' hash does.
        if not self.network.links:
            made["busses"] = busses_sha256(self.network)
        return made | body

    def hold(
        self, lower: int, by: str, certificate: dict[str, Any], proof: list[str] | None = None
    ) -> None:
        """Make this the best bound, with its certificate; an empty one where there is none."""
        self.lower, self.lower_by, self.certificate, self.proof = lower, by, certificate, proof

    def holds(self, lower: int, by: str, certificate: dict[str, Any]) -> bool:
        """Tell if the checker accepts a bound's certificate."""
        # The search has just spent more time than the check takes. A limit on the check would lose
        # bounds that are proved.
        proofs = Proofs(Path(), UNLIMITED)
        checked = partial(check, certificate, self.network, proofs, self.topology.name)
        return self.selfcheck.accepts(lower, by, checked)

    def followed(
        self, lower: int, asked: CheckedFormula, checkers: Iterable[Sequence[int]], drup: list[str]
    ) -> list[str] | None:
        """Return a solver's proof of a bound; None unless it holds for the checker's formula."""
        # The proof goes through the checker's own formula, clause by clause. So an error in the
        # search's formula cannot become a bound.
        proof = list[str]()

        def follow() -> None:
            proof.extend(lrat_of(asked.clauses, drup))
            clauses = list(checkers)
            # Two writers of one formula, without shared code, guard each other. A difference is a
            # fault of the program, not of the network.
            if clauses != asked.clauses:
                raise ConservationError("the checker writes another formula than the search.")
            refuted(clauses, proof)

        return proof if self.selfcheck.accepts(lower, "lrat", follow) else None


@dataclass
class CollectiveBound(Certified):
    """Base of the searches for the fewest steps of a collective."""

    collective: str
    """Name of the collective."""
    root: int | None
    """Root of the collective; None if it has no root."""
    ports: str
    """Port model, ``"one"`` or ``"all"``."""

    def claimed(self, lower: int, kind: str, body: dict[str, Any], **more: int) -> dict[str, Any]:
        """Make the certificate that one step less is not enough; `more` limits its claim."""
        claim = {"collective": self.collective, "root": self.root, "ports": self.ports}
        claim |= {"more_than": lower - 1} | more
        return self.document(claim, kind, body)
