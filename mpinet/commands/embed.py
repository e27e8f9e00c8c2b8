"""``mpinet embed``: embed a guest network in a host, and emulate a program of the guest."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Literal

from mpinet.base.numerals import is_whole, quoted
from mpinet.commands.fields import Count
from mpinet.commands.functions import function_with
from mpinet.commands.network import Network
from mpinet.commands.optionrecords import Common, SavedOften, Several, Typed, Views
from mpinet.commands.options import MachineOptions, Ports, RoutingName
from mpinet.commands.result import Result

IDENTITY = "identity"
"""Name of the embedding with guest node x at host processor x."""


def images_of(text: str) -> list[int] | str:
    """Read a list of processor numbers, or the word ``identity``."""
    if text == IDENTITY:
        return text
    words = text.split(",")
    if not all(map(is_whole, words)):
        raise ValueError(f"expected host processors U,V,.. or identity, not {quoted(text)}")
    return [int(word) for word in words]


class EmbedResult(Result):
    """Result of ``embed``."""

    guest: str
    host: str
    routing: str
    dilation: Count
    route_length: Count
    congestion: Count
    expansion: float
    program: str
    operator: str | None
    guest_steps: Count
    host_steps: Count
    slowdown: float | None
    correct: bool


@dataclass(frozen=True)
class EmbedOptions(MachineOptions):
    """Embed a network in another network, and emulate a program of the guest (collective).

    Examples
    --------
    ``mpinet embed ring:16 hypercube:4``

    ``mpinet embed torus:4x4 hypercube:4``

    >>> import mpinet
    >>> mpinet.embed("ring:16", "hypercube:4").dilation
    1
    """

    command = "embed"
    guest: Annotated[Network, Typed(metavar="GUEST")]
    """Network to embed."""
    topology: Annotated[Network, Typed(metavar="HOST")]
    """Network that hosts the guest, such as ``torus:8x8``."""
    _: KW_ONLY
    images: Annotated[Several[int] | str | None, Typed(metavar="U,V,..", read=images_of)] = None
    """Host processors of guest nodes 0, 1, ..; or ``identity``: node x at processor x. Default:
    identity, or for a ring the host's Hamiltonian cycle if known."""
    program: Literal["step", "ascend", "descend"] = "step"
    """Program to emulate: step (one step with a message in each direction of every guest link),
    ascend, or descend."""
    operator: str | None = None
    """Operator of ``ascend`` or ``descend``."""
    routing: RoutingName = None
    """Routing on the host."""
    ports: Ports = "all"


embed = function_with(EmbedOptions, EmbedResult, Views, SavedOften, Common)
