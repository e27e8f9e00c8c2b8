"""The catalogue of families, and the reader of topology strings.

A family is one line of `FAMILIES`. Its module is imported on the first request for the family. A
short job does not pay for the other families.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import reduce
from importlib import import_module
from typing import TYPE_CHECKING, Any

from mpinet.base.meant import hint
from mpinet.base.numerals import is_whole, looks_whole, whole
from mpinet.errors import TopologyError
from mpinet.networks.arguments import read_declared
from mpinet.networks.own import ModuleMissing, open_own
from mpinet.networks.topology import NetworkLike, NetworkxGraph, Topology

if TYPE_CHECKING:
    import networkx

FAMILIES = {
    "ring": "mpinet.networks.classic.ring:Ring",
    "complete": "mpinet.networks.classic.complete:Complete",
    "path": "mpinet.networks.classic.grid:Path",
    "star": "mpinet.networks.classic.tree:Star",
    "tree": "mpinet.networks.classic.tree:Tree",
    "mesh": "mpinet.networks.classic.grid:Mesh",
    "torus": "mpinet.networks.classic.grid:Torus",
    "hypercube": "mpinet.networks.classic.hypercube:Hypercube",
    "ccc": "mpinet.networks.classic.ccc:CubeConnectedCycles",
    "debruijn": "mpinet.networks.classic.shift:DeBruijn",
    "kautz": "mpinet.networks.classic.kautz:Kautz",
    "shuffleexchange": "mpinet.networks.classic.shift:ShuffleExchange",
    "moebius": "mpinet.networks.classic.shift:Moebius",
    "circulant": "mpinet.networks.classic.circulant:Circulant",
    "rcirculant": "mpinet.networks.classic.circulant:RecursiveCirculant",
    "chordalring": "mpinet.networks.classic.chordalring:ChordalRing",
    "doubleloop": "mpinet.networks.classic.circulant:DoubleLoop",
    "fattree": "mpinet.networks.classic.fattree:FatTree",
    "karytree": "mpinet.networks.classic.fattree:KaryTree",
    "dragonfly": "mpinet.networks.classic.dragonfly:Dragonfly",
    "megafly": "mpinet.networks.classic.dragonfly:Megafly",
    "slimfly": "mpinet.networks.classic.primefields:SlimFly",
    "polarfly": "mpinet.networks.classic.primefields:PolarFly",
    "hyperx": "mpinet.networks.classic.hyperx:HyperX",
    "flatbutterfly": "mpinet.networks.classic.hyperx:FlattenedButterfly",
    "butterfly": "mpinet.networks.classic.butterfly:Butterfly",
    "benes": "mpinet.networks.classic.butterfly:Benes",
    "exchangedcube": "mpinet.networks.classic.exchanged:ExchangedCube",
    "pancake": "mpinet.networks.classic.permutations:Pancake",
    "bubblesort": "mpinet.networks.classic.permutations:BubbleSort",
    "randomregular": "mpinet.networks.classic.randomregular:RandomRegular",
    "roadrunner": "mpinet.networks.classic.roadrunner:Roadrunner",
    "twistedtorus": "mpinet.networks.classic.twistedtorus:TwistedTorus",
    "hammingmesh": "mpinet.networks.classic.boxes:HammingMesh",
    "rail": "mpinet.networks.classic.boxes:Rail",
    "dgx1": "mpinet.networks.classic.boxes:Dgx1",
    "dgxa100": "mpinet.networks.classic.boxes:DgxA100",
    "dgxh100": "mpinet.networks.classic.boxes:DgxH100",
    "mi250": "mpinet.networks.classic.boxes:Mi250",
    "bsn": "mpinet.networks.gbsn.regular:BlockShift",
    "gbsn": "mpinet.networks.gbsn.general:GeneralizedBlockShift",
    "gmn": "mpinet.networks.gmn.wiring:MultipleLoops",
    "gmnany": "mpinet.networks.gmn.arbitrary:SmoothedLoops",
    "lst": "mpinet.networks.sth.loop:ChordedLoop",
    "tq": "mpinet.networks.sth.cube:TwistedCube",
    "cq": "mpinet.networks.sth.cube:CrossedCube",
    "hkv": "mpinet.networks.sth.cube:HilbersCube",
    "sth": "mpinet.networks.sth.scalable:ScalableTwistedHypercube",
    "dlh": "mpinet.networks.classic.cubeproducts:DoubleLoopHypercube",
    "hexcell": "mpinet.networks.classic.hexcell:HexCell",
    "foldedcube": "mpinet.networks.classic.folded:FoldedCube",
    "hhc": "mpinet.networks.classic.hierarchical:HierarchicalCube",
    "stargraph": "mpinet.networks.classic.permutations:StarGraph",
    "arrangement": "mpinet.networks.classic.permutations:Arrangement",
    "petersen": "mpinet.networks.classic.petersen:Petersen",
    "gpetersen": "mpinet.networks.classic.petersen:GeneralizedPetersen",
    "hp": "mpinet.networks.classic.petersen:HyperPetersen",
    "fp": "mpinet.networks.classic.petersen:FoldedPetersen",
    "fpq": "mpinet.networks.classic.petersen:FoldedPetersenCube",
    "starcube": "mpinet.networks.classic.cubeproducts:StarCube",
    "arrstar": "mpinet.networks.classic.cubeproducts:ArrangementStar",
    "hypermesh": "mpinet.networks.classic.cubeproducts:HyperMesh",
    "bh": "mpinet.networks.classic.banyan:BanyanHypercube",
    "lens": "mpinet.networks.lens.wiring:Lens",
    "clens": "mpinet.networks.lens.wiring:CompletedLens",
    "plens": "mpinet.networks.lens.partial:PartialLens",
    "snowflake": "mpinet.networks.lens.clusters:DenseSnowflake",
    "busstar": "mpinet.networks.lens.clusters:BusStar",
    "multistage": "mpinet.networks.lens.multistage:Multistage",
    "hdn": "mpinet.networks.hdn.wiring:HierarchicalDualNet",
    "rdn": "mpinet.networks.hdn.wiring:RecursiveDualNet",
    "dualcube": "mpinet.networks.hdn.wiring:DualCube",
    "graph": "mpinet.networks.graphfile:GraphFile",
}
"""Module and class of each family, by the family name in a topology string."""


@dataclass(frozen=True)
class Family:
    """Description of a family, as ``mpinet topologies`` lists it."""

    name: str
    """The name in a topology string."""
    parameters: str
    """Names of the parameters."""
    range: str
    """Allowed values of the parameters."""
    example: str
    """A topology string."""
    paper: str
    """Source of the family."""
    specification: str
    """Pages and sections of docs/ that define the family."""


def open_topology(name: NetworkLike) -> Topology:
    """Return the topology that a string names, or that a graph describes.

    Parameters
    ----------
    name : str, networkx.Graph or Topology
        ``FAMILY:ARGUMENTS``, ``module.path:Class:ARGUMENTS`` or ``path/file.py:Class:ARGUMENTS``;
        several of these joined by ``*`` are their product. Further arguments at the end:
        ``group=0-3+8`` names the participating processors, ``dead=5+0-1`` dead nodes and links
        (`networks.members`). A graph of networkx (connected, undirected) becomes a network with the
        graph's nodes and edges. A topology is returned unchanged.

    Raises
    ------
    TopologyError
        The string names no topology, or the graph is not a valid network. The message names the
        wrong part and the allowed values.

    Examples
    --------
    >>> import mpinet, networkx
    >>> cube = mpinet.open("hypercube:4")
    >>> cube.size, cube.ports, cube.address(5)
    (16, 4, '0101')
    >>> cube.neighbor(5, [0, 1, 2, 3])
    array([ 4,  7,  1, 13])
    >>> mpinet.open(networkx.petersen_graph())
    <topology networkx:Petersen Graph: 10 nodes, 3 ports>
    """
    if isinstance(name, Topology):
        return name
    if isinstance(name, str):
        return _open_named(name)
    if isinstance(name, NetworkxGraph):
        from mpinet.networks.graph import GivenGraph

        return GivenGraph(name)
    raise TopologyError(
        f"A network is a string such as torus:8x8, a topology or a graph of networkx, not {name!r}."
    )


def to_networkx(topology: NetworkLike) -> networkx.Graph:
    """Return the networkx graph of a topology or of a topology string.

    Nodes are the numbers 0..N-1, or the nodes of the networkx graph from which the topology was
    made. Each node has the attributes ``address`` and ``number``. Each edge has the attribute
    ``ports``: the lists of ports at the end with the lower number and at the other end. Parallel
    links become one edge. The graph's name is the topology's name.

    Examples
    --------
    >>> import mpinet
    >>> graph = mpinet.to_networkx("hypercube:3")
    >>> graph.number_of_nodes(), graph.number_of_edges()
    (8, 12)
    """
    return open_topology(topology).to_networkx()


HOSTS = re.compile(r"(?P<network>.*?)[:,]\s*hosts\s*=(?P<each>[^,*]*)")
"""The last argument of a direct network's string, ``hosts=``: the number of processors per
router.
"""


def _open_named(text: str) -> Topology:
    """Open a product; its last arguments may be ``hosts=``, ``group=`` or ``dead=``."""
    from mpinet.networks.product import Product

    # The pattern backtracks on long names. Most names have no equals sign, and skip it.
    if "=" in text:
        from mpinet.networks.members import PART, open_part

        if said := PART.fullmatch(text):
            return open_part(_open_named(said["network"]), said["said"])
    if found := HOSTS.fullmatch(text):
        from mpinet.networks.terminals import Terminals

        each = found["each"].strip()
        number: Any = whole(each) if looks_whole(each) else each  # the network rejects other texts
        return Terminals(_open_named(found["network"]), number)
    return reduce(Product, [_open_factor(factor.strip(), text) for factor in text.split("*")])


def families() -> list[Family]:
    """Return the descriptions of all families, in the catalogue's order."""
    return [_describe(name, family_class(name)) for name in FAMILIES]


def family_of(name: str) -> Family:
    """Return the description of the family of this name.

    Raises
    ------
    TopologyError
        The catalogue has no family of this name.
    """
    if name not in FAMILIES:
        raise TopologyError(_unknown(name))
    return _describe(name, family_class(name))


def _describe(name: str, cls: type[Topology]) -> Family:
    return Family(
        name=name,
        parameters=", ".join(parameter.name for parameter in cls.parameters),
        range="; ".join(f"{p.name} {p.allowed}" for p in cls.parameters),
        example=cls.example,
        paper=cls.paper,
        specification=cls.specification,
    )


def _open_factor(text: str, whole: str) -> Topology:
    """Open one factor of a product, or a network without factors."""
    if not text:
        where = "The topology string is empty" if not whole.strip() else f"{whole!r} lacks a factor"
        raise TopologyError(f"{where}: give a name and arguments, as in hypercube:10.")
    name, _, arguments = text.partition(":")
    if name in FAMILIES:
        cls = family_class(name)
        examples = " or ".join(filter(None, (cls.example, cls.synonym)))
        return cls(**read_declared(name, cls.parameters, arguments, examples))
    place, _, arguments = arguments.partition(":")
    if place.isidentifier() and re.fullmatch(r"[\w.]+|.*\.py", name):
        try:
            return open_own(name, place, arguments)
        except ModuleMissing as error:
            raise TopologyError(f"{_unknown(name)} {error}") from None
    # Sides joined by * instead of x are an easy slip, since * joins networks. The message shows
    # the corrected text.
    if is_whole(name) and "*" in whole:
        meant = f"* joins networks, and x joins sides: did you mean {whole.replace('*', 'x')}?"
        raise TopologyError(f"There is no topology {name!r}: {meant}")
    raise TopologyError(_unknown(name))


def _unknown(name: str) -> str:
    if is_whole(name):
        return f"There is no topology {name!r}: did you mean complete:{name} or ring:{name}?"
    said = hint(name, FAMILIES, after="'mpinet topologies' lists them all.")
    return f"There is no topology {name!r}: {said}"


def family_class(name: str) -> type[Topology]:
    """Return the class of a family in `FAMILIES`."""
    # Only this module is imported. Importing all families would slow the start of every short
    # command.
    module, _, cls = FAMILIES[name].partition(":")
    return getattr(import_module(module), cls)
