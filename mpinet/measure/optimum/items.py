"""Certificates for scatter, gather, gossip and exchange: cuts, checked before they are given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mpinet.certify.certificate import FORM, Proofs, busses_sha256, check
from mpinet.certify.network import Network
from mpinet.certify.work import UNLIMITED
from mpinet.errors import CertificateError, ConservationError
from mpinet.machine.model import PortModel
from mpinet.networks.topology import Topology
from mpinet.programs.bounds import Bound
from mpinet.programs.cuts import best_cut
from mpinet.programs.flow import minimum_cut

ROOTED = ("scatter", "gather")
"""Collectives whose items alike flow between one processor and all others."""

DISTANCE = "distance"


def claimed(
    topology: Topology, collective: str, root: int | None, model: PortModel, bound: Bound
) -> tuple[Bound, dict[str, Any]]:
    """A lower bound that has a certificate, and the certificate without its claim.

    Parameters
    ----------
    topology : Topology
        The network.
    collective : str
        ``"scatter"``, ``"gather"``, ``"gossip"`` or ``"exchange"``.
    root : int or None
        Of the first two.
    model : PortModel
        ``"one"`` or ``"all"``.
    bound : Bound
        What is known.

    Returns
    -------
    bound : Bound
        The larger one of that and of the best cut.
    certificate : dict
        Its kind, and what it takes to check it; empty where there is none.
    """
    if bound == 0:
        return bound, {}
    if root is not None:
        found = minimum_cut(topology, root, model, bound - 1)
        if found is None:
            raise ConservationError(f"{bound - 1} steps are enough for the flow, and not for it.")
        more = {"since": found.since, "senders": found.senders, "receivers": found.receivers}
        return bound, {"kind": "cut", **more}
    cut = best_cut(topology, model, collective)
    if cut is not None and cut.steps >= bound:
        sides = {"senders": cut.senders.tolist(), "receivers": cut.receivers.tolist()}
        return Bound(cut.steps, "cut"), {"kind": "cut", "parts": cut.parts.tolist(), **sides}
    return bound, {"kind": DISTANCE} if bound.by == DISTANCE else {}


def certificate_of(
    topology: Topology,
    collective: str,
    root: int | None,
    ports: str,
    bound: Bound,
    body: dict[str, Any],
) -> tuple[str, dict[str, Any]]:
    """The network's hash, and the certificate that `bound` - 1 steps are not enough.

    Raises
    ------
    ConservationError
        The checker does not accept it.
    """
    seen = Network.of(topology)
    if not body:
        return seen.edges_sha256, {}
    claim = {"collective": collective, "root": root, "ports": ports, "more_than": bound - 1}
    document = {"mpinet": FORM, "kind": body["kind"], "claim": claim}
    document |= {"network": topology.name, "edges_sha256": seen.edges_sha256} | body
    if not seen.links:
        document["busses"] = busses_sha256(seen)
    try:
        check(document, seen, Proofs(Path(), UNLIMITED), topology.name)
    except CertificateError as error:
        raise ConservationError(f"the search's cut does not hold: {error}") from None
    return seen.edges_sha256, document
