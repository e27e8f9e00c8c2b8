"""``mpinet topologies``: list the network families."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar, TypeVar

from mpinet.commands.fields import Count, Fields, When
from mpinet.commands.functions import function_with
from mpinet.commands.optionrecords import Common, Options, Typed
from mpinet.commands.result import ListResult

T = TypeVar("T")


FAMILY, MEMBER = When("without ``--size``"), When("with ``--size``")


OfFamily = Annotated[T, FAMILY]


OfMember = Annotated[T, MEMBER]


class TopologiesRow(Fields):
    """A family, or its network of the requested size."""

    name: str
    parameters: OfFamily[str]
    range: OfFamily[str]
    example: OfFamily[str]
    paper: OfFamily[str]
    specification: Annotated[OfFamily[str], "page and section of these documents"]
    topology: OfMember[str]
    processors: OfMember[Count]
    switches: OfMember[Count]
    links: OfMember[Count]
    degree: OfMember[Count]
    diameter: OfMember[Count | None]
    moore: OfMember[Count | None]
    average_distance: OfMember[float | None]
    cost: OfMember[Count | None]

    kinds_: ClassVar = (FAMILY, MEMBER)


class TopologiesResult(ListResult[TopologiesRow]):
    """Result of ``topologies``."""


@dataclass(frozen=True)
class TopologiesOptions(Options):
    """List the network families (collective).

    Returns
    -------
    Result
        With ``--size``, one network per family: of this size, with the smallest diameter.

    Examples
    --------
    ``mpinet topologies``

    ``mpinet topologies torus --size 60..70``

    >>> import mpinet
    >>> mpinet.topologies("gmn").value[0]["example"]
    'gmn:8,256'
    """

    command = "topologies"
    family: Annotated[str | None, Typed(metavar="NAME")] = None
    """Name of one family to list; default: all."""
    _: KW_ONLY
    size: Annotated[str | None, Typed(metavar="A..B")] = None
    """Number of processors, ``200..300`` or ``256``: list each family's network of this size with
    the smallest measured diameter."""
    degree: Annotated[str | None, Typed(metavar="..K")] = None
    """Largest degree of these networks: ``..4``, or ``4``."""


topologies = function_with(TopologiesOptions, TopologiesResult, Common)
