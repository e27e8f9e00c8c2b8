"""Common part of the searches for optima: a bound counts only with a checked certificate."""

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
    """A formula for a solver."""

    @property
    def clauses(self) -> Sequence[Sequence[int]]:
        """Clauses, in the form of the checker."""


@dataclass
class Certified:
    """Base of the searches: the network, and the certificate of the best bound so far."""

    topology: Topology
    """The network."""
    certificate: dict[str, Any] = field(default_factory=dict, kw_only=True)
    """Certificate of the lower bound; empty without one."""
    proof: list[str] | None = field(default=None, kw_only=True)
    """Lines of the certificate's proof, if it has one."""
    limited: bool = field(default=False, kw_only=True)
    """True if a longer search could improve the bounds."""
    selfcheck: SelfCheck = field(default_factory=SelfCheck, kw_only=True)
    """Record of bounds rejected by the checker."""
    lower: int = field(default=0, kw_only=True)
    """Lower bound: steps of a collective, or channels of a cut."""
    lower_by: str | None = field(default=None, kw_only=True)
    """Kind of proof of the lower bound; None if there is nothing to prove."""
    bounds: dict[str, int] = field(default_factory=dict, kw_only=True)
    """Lower bound from each kind of proof, by name."""

    @cached_property
    def network(self) -> Network:
        """The network as read by the checker."""
        return Network.of(self.topology)

    @property
    def edges_sha256(self) -> str:
        """Hash of the network's edges, as in `mpinet show`."""
        return self.network.edges_sha256

    def document(self, claim: dict[str, Any], kind: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return a certificate: a claim about this network, with its evidence."""
        made: dict[str, Any] = {"mpinet": FORM, "kind": kind, "claim": claim}
        made |= {"network": self.topology.name, "edges_sha256": self.edges_sha256}
        made["fabric"] = self.network.fabric
        # The hash of the edges is the same for one bus of three members and three busses of two.
        # The hash of the members is different.
        if not self.network.links:
            made["busses"] = busses_sha256(self.network)
        return made | body

    def hold(
        self, lower: int, by: str, certificate: dict[str, Any], proof: list[str] | None = None
    ) -> None:
        """Store a bound as the best so far, with its certificate (empty if none exists)."""
        self.lower, self.lower_by, self.certificate, self.proof = lower, by, certificate, proof

    def holds(self, lower: int, by: str, certificate: dict[str, Any]) -> bool:
        """Return whether the checker accepts a bound's certificate."""
        # The search has just spent more time than the check takes. A limit on the check would lose
        # proved bounds.
        proofs = Proofs(Path(), UNLIMITED)
        checked = partial(check, certificate, self.network, proofs, self.topology.name)
        return self.selfcheck.accepts(lower, by, checked)

    def followed(
        self, lower: int, asked: CheckedFormula, checkers: Iterable[Sequence[int]], drup: list[str]
    ) -> list[str] | None:
        """Return a solver's proof of a bound; None unless it holds for the checker's formula."""
        # The proof is followed on the checker's own formula, clause by clause. An error in the
        # search's formula can therefore not become a bound.
        proof = list[str]()

        def follow() -> None:
            proof.extend(lrat_of(asked.clauses, drup))
            clauses = list(checkers)
            # Two writers of the same formula, without shared code, guard each other. A difference
            # is an error of the program, not of the network.
            if clauses != asked.clauses:
                raise ConservationError("the checker's formula differs from the search's formula.")
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
        """Return a certificate that `lower` - 1 steps are too few; `more` extends its claim."""
        claim = {"collective": self.collective, "root": self.root, "ports": self.ports}
        claim |= {"more_than": lower - 1} | more
        return self.document(claim, kind, body)
