"""What is found is the best of all members, each measured by networkx."""

from contextlib import suppress
from itertools import combinations_with_replacement, product
from math import prod

import networkx
import pytest

import mpinet
from mpinet.errors import TopologyError, UsageError
from mpinet.experiments.find import best, candidates
from mpinet.experiments.members import listed_families, members
from mpinet.networks.catalogue import FAMILIES, to_networkx


def listed(family: str, low: int, high: int) -> set[str]:
    return {network.name for network in members(family, low, high)}


def test_the_members_of_a_family_are_all_that_its_definition_allows():
    assert listed("hypercube", 1, 40) == {f"hypercube:{n}" for n in (1, 2, 3, 4, 5)}
    assert listed("hkv", 1, 200) == {f"hkv:{n}" for n in (1, 3, 5, 7)}
    assert listed("torus", 24, 24) == {
        "torus:24", "torus:2x12", "torus:3x8", "torus:4x6", "torus:2x2x6", "torus:2x3x4",
        "torus:2x2x2x3",
    }  # fmt: skip
    assert listed("kautz", 12, 24) == {"kautz:2,3", "kautz:2,4", "kautz:3,2", "kautz:4,2"}
    assert listed("fattree", 8, 9) == {"fattree:8,1", "fattree:9,1", "fattree:3,2", "fattree:2,3"}
    assert listed("petersen", 1, 20) == {"petersen"}
    assert listed("dgx1", 1, 20) == {"dgx1"}
    assert listed("dgxh100", 9, 30) == {"dgxh100:2", "dgxh100:3"}
    assert listed("twistedtorus", 18, 54) == {
        "twistedtorus:6x3", "twistedtorus:8x4", "twistedtorus:10x5", "twistedtorus:4x4x2",
        "twistedtorus:6x3x3",
    }  # fmt: skip
    shapes = ("2,2", "2,3", "3,2", "4,1", "5,1", "6,1")
    assert listed("rail", 4, 6) == {f"rail:{s}" for shape in shapes for s in (shape, f"{shape},1")}
    assert listed("tree", 1, 15) == {"tree:2,1", "tree:2,2", "tree:2,3", "tree:3,1", "tree:3,2"} | {
        f"tree:{k},1" for k in range(4, 15)
    }
    assert listed("star", 1, 4) == {"star:2", "star:3", "star:4"}
    assert listed("hammingmesh", 1, 7) == {
        f"hammingmesh:{sizes}" for sizes in ("1,1,2,2", "1,1,2,3", "1,1,3,2")
    }
    assert listed("doubleloop", 10, 10) == {"doubleloop:10,2", "doubleloop:10,3", "doubleloop:10,4"}


def opened(family: str, arguments: list[str], low: int, high: int) -> set[str]:
    """The networks among these that exist and have low..high processors."""
    return {name for name, hosts in counted(family, arguments).items() if low <= hosts <= high}


def counted(family: str, arguments: list[str]) -> dict[str, int]:
    """The networks among these that exist, with their processors."""
    found = {}
    for text in arguments:
        with suppress(TopologyError):
            network = mpinet.open(f"{family}:{text}")
            found[network.name] = network.hosts
    return found


@pytest.mark.costly
@pytest.mark.parametrize(
    ("family", "largest"),
    [
        ("dragonfly", (45, 15, 45)),
        ("megafly", (45, 15, 45)),
        ("slimfly", (130,)),
        ("polarfly", (130,)),
        ("flatbutterfly", (60, 8)),
        ("karytree", (60, 7)),
        ("butterfly", (8,)),
        ("benes", (8,)),
        ("exchangedcube", (8, 8)),
        ("pancake", (7,)),
        ("bubblesort", (7,)),
        ("randomregular", (45, 8)),
    ],
)
def test_members_with_whole_numbers_are_all_those_of_a_box_of_parameters(family, largest):
    box = product(*(range(most + 1) for most in largest))
    there = counted(family, [",".join(map(str, numbers)) for numbers in box])
    for low, high in [(1, 30), (18, 45)]:
        wanted = {name for name, hosts in there.items() if low <= hosts <= high}
        assert listed(family, low, high) == wanted != set()


def test_members_with_sides_are_all_products_of_up_to_four():
    names = [
        "x".join(map(str, sides))
        for count in range(1, 5)
        for sides in combinations_with_replacement(range(2, 41), count)
        if prod(sides) <= 40
    ]
    assert listed("hyperx", 18, 40) == opened("hyperx", names, 18, 40)


def test_nearly_every_family_is_searched_and_members_have_the_size():
    assert set(FAMILIES) - set(listed_families()) <= {"circulant", "graph"}
    for network in candidates(28, 36):
        assert 28 <= network.hosts <= 36


@pytest.mark.parametrize("minimise", [["diameter", "average"], ["cost", "links"], ["average"]])
def test_the_best_are_those_of_a_search_through_all(minimise):
    families = ["ring", "chordalring", "doubleloop", "torus", "debruijn", "kautz", "ccc", "gmnany"]
    found = candidates(22, 25, families)
    expected = []
    for at, network in enumerate(found):
        graph = networkx.Graph(to_networkx(network))
        degree = max(degree for _, degree in graph.degree)
        if degree > 4:
            continue
        lengths = dict(networkx.all_pairs_shortest_path_length(graph))
        diameter = max(max(one.values()) for one in lengths.values())
        total = sum(sum(one.values()) for one in lengths.values())
        measured = {
            "diameter": diameter,
            "average": total / (len(graph) * (len(graph) - 1)),
            "cost": degree * diameter,
            "links": graph.number_of_edges(),
        }
        expected.append((*(measured[name] for name in minimise), at, network.name))
    rows = best(found, minimise, degree=4, most=5)
    assert [row["topology"] for row in rows] == [one[-1] for one in sorted(expected)[:5]]


def test_the_command_tells_the_best_networks():
    found = mpinet.find(processors="16", degree="..4", families="torus,debruijn,hypercube", best=2)
    assert [row["topology"] for row in found.value] == ["debruijn:4", "torus:4x4"] or [
        row["diameter"] for row in found.value
    ] == [4, 4]
    assert found.value[0]["average_distance"] <= found.value[1]["average_distance"]
    assert found.value[0]["moore"] == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"processors": "12..x"}, "a range 500..520, not '12..x'"),
        ({"processors": "20..10"}, "upwards, not 20..10"),
        ({"processors": "8", "degree": "four"}, "a largest degree"),
        ({"processors": "8", "minimise": "speed"}, "'speed' cannot be minimised"),
        ({"processors": "8", "families": "tors"}, "'tors' is not searched"),
        ({"processors": "100000"}, "up to 16,384 processors"),
        ({"processors": "300..900"}, "more than 20,000 networks"),
        ({"processors": "9", "families": "hypercube"}, "No network of these families"),
    ],
)
def test_what_cannot_be_searched_gets_a_sentence(options, said):
    with pytest.raises(UsageError, match=said):
        mpinet.find(**options)
