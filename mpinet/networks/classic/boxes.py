"""GPU systems on the market, and two from research: listed links, fast links as parallel links.

Processors are numbered first, then switches, which only forward. Ports lead to the neighbours in
ascending order; parallel links have consecutive ports.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, product, repeat
from typing import ClassVar

from mpinet.errors import TopologyError
from mpinet.networks.graph import StoredGraph
from mpinet.networks.graphfiles.wiring import MOST_LINKS
from mpinet.networks.parameters import whole_number

Link = tuple[str, str, int, int]
"""Two nodes' addresses, the number of parallel links between them, and their class."""

INSIDE, OUTSIDE = 0, 1
"""Classes of links: within a box (or board), and to the fabric between boxes."""

GPUS = 8
"""GPUs of a DGX box."""

CUBE_MESH = """0-1:2 0-2 0-3 0-4:2 1-2 1-3:2 1-5 2-3:2 2-6:2 3-7
4-5:2 4-6 4-7 5-6 5-7:2 6-7:2"""
"""NVLinks of a DGX-1: pairs of GPUs, with the number of links if a pair has two."""

DIES = """0-1:4 0-4:2 0-8 1-5 1-9 1-10 2-3:4 2-6 2-9 2-10 3-7:2 3-11 4-5:4 4-6 5-6 5-7 6-7:4
8-9:4 8-12:2 9-13 10-11:4 10-14 11-15:2 12-13:4 12-14 13-14 13-15 14-15:4"""
"""Infinity Fabric links of eight MI250: pairs of dies, with the number of links if more than
one.
"""

SHARE = 25, 8
"""Number of parallel links for 50 GB/s of Infinity Fabric, and for 16 GB/s of a die's network."""


class Fabric(StoredGraph):
    """Base of fabrics that list their links.

    Parameters
    ----------
    arguments : str
        The arguments in the topology string.
    processors, switches : sequence of str
        Addresses in the order of the numbers, processors first.
    links : sequence of Link
        The links.

    Raises
    ------
    TopologyError
        The fabric has more than `MOST_LINKS` links.
    """

    class_names: ClassVar[tuple[str, ...]] = ("NVLink", "fabric")

    def __init__(
        self,
        arguments: str,
        processors: Sequence[str],
        switches: Sequence[str],
        links: Sequence[Link],
    ):
        name = f"{self.family}:{arguments}" if arguments else self.family
        count = sum(copies for _, _, copies, _ in links)
        if count > MOST_LINKS:
            raise TopologyError(f"{name} would have {count} links, more than {MOST_LINKS}.")
        self.kinds = [kind for _, _, copies, kind in links for _ in range(copies)]
        pairs = chain.from_iterable(repeat((u, v), copies) for u, v, copies, _ in links)
        super().__init__(name, [*processors, *switches], pairs, self.kinds, len(processors))

    @property
    def link_classes(self) -> tuple[str, ...]:
        """Names of the link classes: within a box and, for several boxes, between boxes."""
        return self.class_names[: max(self.kinds) + 1]


class Dgx1(Fabric):
    """DGX-1 of eight V100 in a hybrid cube mesh, six NVLinks each (NVIDIA 2017).

    GPUs 0..3 form a complete graph, as do GPUs 4..7. GPU i is joined to GPU i + 4. Half of these
    pairs have two links.
    """

    example = "dgx1"
    paper = "NVIDIA 2017; Cai et al. 2021"

    def __init__(self) -> None:
        links = [(f"{u}", f"{v}", copies, INSIDE) for u, v, copies in listed(CUBE_MESH)]
        super().__init__("", [*map(str, range(GPUS))], [], links)

    @property
    def stated(self) -> dict[str, int]:
        """Degree 6, counted in links; diameter 2."""
        return {"degree": 6, "diameter": 2}


class Dgx(Fabric):
    """Base of boxes of eight GPUs behind an NVSwitch, each GPU with a NIC on a leaf switch.

    NIC g of every box joins leaf g modulo `leaves`. A single box has no NICs.
    """

    parameters = (whole_number("n", 1, 256),)
    nvlinks: ClassVar[int]
    nics: ClassVar[int]
    leaves: ClassVar[int]

    def __init__(self, n: int):
        gpus = [*product(range(n), range(GPUS))]
        switches = [f"{box}:nvswitch" for box in range(n)]
        links = [(f"{b}:{g}", f"{b}:nvswitch", self.nvlinks, INSIDE) for b, g in gpus]
        if n > 1:
            switches += [f"{b}:nic{g}" for b, g in gpus]
            switches += [f"leaf{leaf}" for leaf in range(self.leaves)]
            for b, g in gpus:
                nic = f"{b}:nic{g}"
                # NICs are separate nodes, and a GPU's external links do not add to its NVLinks. A
                # NIC with the bandwidth of several NVLinks has as many parallel links.
                links.append((f"{b}:{g}", nic, self.nics, OUTSIDE))
                links.append((nic, f"leaf{g % self.leaves}", self.nics, OUTSIDE))
        super().__init__(f"{n}", [f"{b}:{g}" for b, g in gpus], switches, links)


class DgxA100(Dgx):
    """n DGX A100 of eight GPUs, each with 12 NVLinks and a NIC (NVIDIA 2020).

    The NIC is as fast as one NVLink.
    """

    example = "dgxa100:2"
    paper = "NVIDIA 2020; Zhao et al. 2024"
    nvlinks, nics, leaves = 12, 1, 2


class DgxH100(Dgx):
    """n DGX H100 of eight GPUs, each with 18 NVLinks and a NIC (NVIDIA 2022).

    The NIC is as fast as two NVLinks.
    """

    example = "dgxh100:2"
    paper = "NVIDIA 2022"
    nvlinks, nics, leaves = 18, 2, 8


class Mi250(Fabric):
    """n boxes of eight MI250, 16 dies each, joined by Infinity Fabric (AMD 2021).

    One switch joins several boxes. In this case an Infinity Fabric link of 50 GB/s is 25 parallel
    links, and a die's share of the NICs, 16 GB/s, is 8.
    """

    parameters = (whole_number("n", 1, 64),)
    example = "mi250:2"
    paper = "AMD 2021; Zhao et al. 2024"
    class_names = ("Infinity Fabric", "fabric")

    def __init__(self, n: int):
        # Bandwidths of both fabrics are in the ratio 25 to 8. Whole numbers of parallel links keep
        # the ratio exactly.
        inside, outside = SHARE if n > 1 else (1, 0)
        dies = [f"{box}:{die}" for box in range(n) for die in range(2 * GPUS)]
        links = [
            (f"{box}:{u}", f"{box}:{v}", inside * copies, INSIDE)
            for box in range(n)
            for u, v, copies in listed(DIES)
        ]
        if n > 1:
            links += [(die, "switch", outside, OUTSIDE) for die in dies]
        super().__init__(f"{n}", dies, ["switch"] if n > 1 else [], links)


class Rail(Fabric):
    """Rail-optimised fat tree: GPU g of every box joins rail switch g (Wang et al. 2024).

    The GPUs of a box are joined by a switch, with `nvlinks` links each. Every rail switch has a
    link to every spine. Without spines, only boxes join the rails.
    """

    parameters = (
        whole_number("boxes", 2, 1024),
        whole_number("gpus", 1, 64),
        whole_number("spines", 0, 1024, default=0),
        whole_number("nvlinks", 1, 64, default=1),
    )
    example = "rail:4,4,2"
    paper = "NVIDIA 2023; Wang et al. 2024"

    def __init__(self, boxes: int, gpus: int, spines: int = 0, nvlinks: int = 1):
        places = [*product(range(boxes), range(gpus))]
        switches = [f"{box}:nvswitch" for box in range(boxes)]
        switches += [f"rail{rail}" for rail in range(gpus)]
        switches += [f"spine{spine}" for spine in range(spines)]
        links = [(f"{b}:{g}", f"{b}:nvswitch", nvlinks, INSIDE) for b, g in places]
        links += [(f"{b}:{g}", f"rail{g}", 1, OUTSIDE) for b, g in places]
        links += [
            (f"rail{g}", f"spine{s}", 1, OUTSIDE) for g, s in product(range(gpus), range(spines))
        ]
        optional = [spines, nvlinks] if nvlinks > 1 else [spines] if spines else []
        arguments = ",".join(map(str, [boxes, gpus, *optional]))
        super().__init__(arguments, [f"{b}:{g}" for b, g in places], switches, links)


class HammingMesh(Fabric):
    """HammingMesh of x by y boards of a by b accelerators (Hoefler et al. 2022).

    Boards are meshes. Every row and every column of accelerators has a switch. In each board of a
    row or column, the accelerators at both edges join this switch.
    """

    parameters = (
        whole_number("a", 1, 64),
        whole_number("b", 1, 64),
        whole_number("x", 2, 256),
        whole_number("y", 2, 256),
    )
    example = "hammingmesh:2,2,2,2"
    paper = "Hoefler et al. 2022"
    class_names = ("board", "fabric")

    def __init__(self, a: int, b: int, x: int, y: int):
        name, size = f"{a},{b},{x},{y}", a * b * x * y
        if size > MOST_LINKS // 2:
            raise TopologyError(
                f"hammingmesh:{name} would have {size} accelerators, more than {MOST_LINKS // 2}."
            )
        columns, rows = range(a * x), range(b * y)
        switches = [f"row{row}" for row in rows] + [f"column{column}" for column in columns]
        links = [
            *(
                link
                for row in rows
                for link in line(f"row{row}", [f"{c},{row}" for c in columns], a)
            ),
            *(link for c in columns for link in line(f"column{c}", [f"{c},{r}" for r in rows], b)),
        ]
        super().__init__(name, [f"{c},{r}" for r in rows for c in columns], switches, links)


def listed(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield both ends and the number of links for each pair ``u-v`` or ``u-v:number``."""
    for part in text.split():
        pair, _, copies = part.partition(":")
        u, v = map(int, pair.split("-"))
        yield u, v, int(copies or 1)


def line(switch: str, nodes: Sequence[str], length: int) -> Iterator[Link]:
    """Yield the links of a line of boards, with both ends of each board on a switch."""
    for at, node in enumerate(nodes):
        if at % length == 0:
            yield node, switch, 1, OUTSIDE
        if at % length == length - 1:
            yield node, switch, 1, OUTSIDE
        else:
            yield node, nodes[at + 1], 1, INSIDE
