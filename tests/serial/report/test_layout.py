"""Layouts fit their families: nothing coincides, and what is symmetrical looks so."""

import networkx
import numpy as np
import pytest
from serial.networks.families import REFERENCES

import mpinet
from mpinet.errors import UsageError
from mpinet.measure import distance_matrix, edges
from mpinet.networks.graph import from_networkx
from mpinet.report.layout import layout, places
from mpinet.report.lines import bends, kinds_of_links, stubs
from mpinet.report.shapes import cube, grid, nearest
from mpinet.report.stress import stress_layout


def apart(points):
    """The least distance of two points, by looking at all pairs."""
    distance = np.hypot(*(points[:, None] - points).transpose(2, 0, 1))
    return distance[~np.eye(len(points), dtype=bool)].min(initial=np.inf)


def turned(points, parts):
    """The points turned clockwise by 1/parts of the circle about their middle."""
    angle = 2 * np.pi / parts
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return (points - points.mean(axis=0)) @ turn + points.mean(axis=0)


def same_places(points, others):
    distance = np.hypot(*(points[:, None] - others).transpose(2, 0, 1))
    return distance.min(axis=1).max() < 1e-6 and distance.min(axis=0).max() < 1e-6


@pytest.mark.costly
@pytest.mark.parametrize("family", REFERENCES)
def test_no_two_nodes_coincide_and_all_fit_the_square(family):
    for name in REFERENCES[family]:
        network = mpinet.open(name)
        if network.size > 1500:
            continue
        points = layout(network)
        assert points.shape == (network.size, 2) and points.dtype == np.float64
        assert np.isfinite(points).all() and np.abs(points).max() <= 1.2
        assert apart(points) > 1e-4, name


@pytest.mark.parametrize("name", ["ring:12", "complete:7", "circulant:15,jumps=1-4", "lst:3"])
def test_a_turned_ring_is_the_ring(name):
    points = layout(name)
    assert np.allclose(turned(points, len(points)), np.roll(points, -1, axis=0), atol=1e-6)


@pytest.mark.parametrize(
    ("name", "parts"),
    {
        **{"snowflake:3,3": 3, "busstar:5,2": 5, "stargraph:5": 5, "arrangement:5,2": 5},
        **{"petersen": 5, "dualcube:3": 8, "rdn:5,1": 10, "roadrunner:3,2,2": 3},
        **{"gbsn:1,m=4-4-4-4,a=1": 4, "hexcell:3": 6, "clens:3,4": 4, "pancake:4": 4},
        **{"bubblesort:4": 4},
    }.items(),
)
def test_turned_clusters_are_the_clusters(name, parts):
    points = places(mpinet.open(name))
    assert same_places(turned(points, parts), points)


@pytest.mark.parametrize("name", ["hypercube:6", "mesh:4x5", "mesh:3x4x5", "hexcell:4"])
def test_links_of_one_direction_are_parallel_and_equally_long(name):
    points, network = places(mpinet.open(name)), mpinet.open(name)
    for port in range(network.ports):
        nodes = np.arange(network.size)
        others = network.neighbor(nodes, np.full(network.size, port))
        ways = (points[others] - points)[others >= 0]
        if network.family == "hypercube":
            ways *= np.where((nodes >> port) % 2, -1, 1)[:, np.newaxis]
        if network.family == "hexcell":
            assert np.allclose(np.hypot(*ways.T), 1)
        else:
            assert np.allclose(ways, ways[0])


def test_a_product_of_lines_is_a_grid_and_another_one_has_copies_in_its_second_factor():
    assert np.allclose(places(mpinet.open("ring:6*ring:5")), grid([5, 6]))
    points = places(mpinet.open("petersen*hypercube:3")).reshape(8, 10, 2)
    middles = points.mean(axis=1)
    assert np.allclose(points - middles[:, np.newaxis], points[0] - middles[0])
    assert np.allclose(middles - middles[0], cube(3) - cube(3)[0])


def test_a_fat_tree_has_its_processors_below_and_a_row_for_every_level():
    network = mpinet.open("fattree:3,3")
    heights = layout(network)[:, 1]
    levels = [heights[: network.hosts], *heights[network.hosts :].reshape(3, 9)]
    assert [np.ptp(level) for level in levels] == [0, 0, 0, 0]
    assert np.diff([level[0] for level in levels]).min() > 0


@pytest.mark.parametrize(("name", "groups"), [("dragonfly:2,4,2", 9), ("megafly:3,2,2", 5)])
def test_a_turn_by_a_group_leads_processors_and_routers_to_those_of_the_next_group(name, groups):
    network, points = mpinet.open(name), places(mpinet.open(name))
    for kind in (points[: network.hosts], points[network.hosts :]):
        turn = turned(np.concatenate([kind, -kind]), groups)[: len(kind)]
        assert np.allclose(turn, np.roll(kind, -(len(kind) // groups), axis=0))


@pytest.mark.parametrize("name", ["butterfly:3", "benes:3", "karytree:2,3"])
def test_links_lead_from_a_level_to_the_next_one(name):
    network = mpinet.open(name)
    points = places(network)
    level = points[:, 1] if name.startswith("karytree") else points[:, 0]
    place = np.unique(level.round(6), return_inverse=True)[1].ravel()
    ends = place[edges(network)]
    assert (np.abs(ends[:, 0] - ends[:, 1]) == 1).all()


@pytest.mark.parametrize("name", ["stargraph:3", "pancake:3", "bubblesort:3"])
def test_three_symbols_make_a_hexagon(name):
    points = places(mpinet.open(name))
    ways = points[edges(mpinet.open(name))]
    assert np.allclose(np.hypot(*(ways[:, 0] - ways[:, 1]).T), apart(points))


def test_a_polarfly_stands_on_circles_by_the_hops_from_its_last_point():
    network = mpinet.open("polarfly:5")
    radius = np.hypot(*places(network).T).round(6)
    hops = distance_matrix(network)[-1]
    assert [set(radius[hops == h]) for h in range(3)] == [{0}, {0.45}, {1}]


@pytest.mark.parametrize("name", ["hyperx:5x4", "flatbutterfly:4,3"])
def test_no_link_of_a_complete_row_runs_over_a_third_processor(name):
    network = mpinet.open(name)
    points = places(network)
    for u, v in edges(network):
        along = (points[v] - points[u]) / np.hypot(*(points[v] - points[u]))
        others = np.delete(points, [u, v], axis=0) - points[u]
        ahead, beside = others @ along, np.abs(others @ [-along[1], along[0]])
        between = (ahead > 0) & (ahead < np.hypot(*(points[v] - points[u])))
        assert beside[between].min(initial=1) > 0.05


@pytest.mark.parametrize(
    "graph", [networkx.path_graph(30), networkx.grid_2d_graph(6, 7), networkx.cycle_graph(25)]
)
def test_distances_in_the_plane_go_with_hops(graph):
    network = from_networkx(networkx.convert_node_labels_to_integers(graph))
    points = layout(network)
    pairs = np.triu_indices(network.size, 1)
    plane = np.hypot(*(points[pairs[0]] - points[pairs[1]]).T)
    assert np.corrcoef(plane, distance_matrix(network)[pairs])[0, 1] > 0.9


def test_a_large_network_is_laid_out_by_landmarks_alike_in_every_run():
    graph = networkx.convert_node_labels_to_integers(networkx.grid_2d_graph(50, 40))
    links = np.array(graph.edges, np.int64)
    points = stress_layout(2000, links)
    assert np.array_equal(points, stress_layout(2000, links))
    lengths = np.hypot(*(points[links[:, 0]] - points[links[:, 1]]).T)
    assert lengths.mean() < 0.05 * np.ptp(points, axis=0).max()


def test_pieces_stand_apart():
    graph = networkx.disjoint_union(networkx.complete_graph(6), networkx.complete_graph(6))
    points = stress_layout(12, np.array(graph.edges, np.int64))
    first, second = points[:6], points[6:]
    assert np.hypot(*(first.mean(axis=0) - second.mean(axis=0))) > 1
    assert apart(points) > 0.1


def test_only_links_that_would_run_over_a_node_swerve_and_then_they_miss_all():
    assert not bends(layout("ring:9"), edges("ring:9")).any()
    points, links = layout("torus:5x6"), edges("torus:5x6")
    bent = bends(points, links)
    hops = np.abs(np.diff(points[links], axis=1)).sum(axis=(1, 2)) / apart(points)
    assert np.array_equal(bent > 0, hops > 1.5)
    start, end = points[links[:, 0]], points[links[:, 1]]
    aside = (end - start)[:, ::-1] * [-1, 1]
    aside /= np.hypot(*aside.T)[:, np.newaxis]
    middle = (start + end) / 2 + 2 * bent[:, np.newaxis] * aside
    for t in np.linspace(0.01, 0.99, 99):
        curve = (1 - t) ** 2 * start + 2 * t * (1 - t) * middle + t**2 * end
        distance = np.hypot(*(curve[:, None] - points).transpose(2, 0, 1))
        distance[np.arange(len(links))[:, None], links] = np.inf
        assert distance.min() > 0.1 * apart(points)


def test_a_network_with_more_nodes_than_a_picture_shows_is_refused():
    with pytest.raises(UsageError, match=r"hypercube:24 has 16,777,216 nodes: .* 20,000 at most"):
        layout("hypercube:24")


@pytest.mark.parametrize("name", ["hypercube:4", "hypercube:5"])
def test_no_link_of_a_small_hypercube_swerves(name):
    points = places(mpinet.open(name))
    assert not bends(points, edges(name)).any()


def test_a_slim_fly_stands_in_two_columns_of_blocks_whose_inner_links_have_colours_of_their_own():
    q, network = 5, mpinet.open("slimfly:5")
    blocks = places(network).reshape(2, q, q, 2)
    assert np.ptp(blocks[0, ..., 0]) == pytest.approx(np.ptp(blocks[1, ..., 0]))
    assert blocks[0, ..., 0].max() < blocks[1, ..., 0].min()
    heights = blocks[..., 1]
    assert (heights.min(axis=2)[:, :-1] > heights.max(axis=2)[:, 1:]).all()
    links = edges(network)
    addresses = [[tuple(map(int, network.address(v).split(","))) for v in link] for link in links]
    wanted = [0 if u[0] != v[0] else 1 + u[0] for u, v in addresses]
    assert kinds_of_links(network, links).tolist() == wanted
    assert not kinds_of_links(mpinet.open("ring:6"), edges("ring:6")).any()


@pytest.mark.parametrize(
    ("name", "sides"),
    [
        *(("torus:4x5", (4, 5)), ("torus:3x4x5", (3, 4, 5)), ("torus:3x3x3x4", (3, 3, 3, 4))),
        ("ring:5*ring:4", (4, 5)),
    ],
)
def test_links_that_close_a_ring_are_stubs_that_lead_away_from_each_other(name, sides):
    network, links, points = mpinet.open(name), edges(name), layout(name)
    found = stubs(network, points, links)
    open_grid = networkx.grid_graph(sides[::-1])
    at = [tuple(int(c) for c in np.unravel_index(v, sides)) for v in range(network.size)]
    closing = [not open_grid.has_edge(at[u], at[v]) for u, v in links]
    assert found.any(axis=1).tolist() == closing
    ways = points[links[:, 1]] - points[links[:, 0]]
    assert ((found * ways).sum(axis=1)[closing] < 0).all()
    assert np.hypot(*found.T).max() <= 0.51 * apart(points)


@pytest.mark.parametrize("name", ["torus:8", "torus:2x2", "mesh:4x4", "hypercube:4", "petersen"])
def test_other_links_are_drawn_whole(name):
    assert not stubs(mpinet.open(name), layout(name), edges(name)).any()


@pytest.mark.parametrize(
    "points",
    [
        np.random.default_rng(1).random((300, 2)),
        np.stack([np.arange(50.0) ** 1.5, np.zeros(50)], axis=1),
        np.stack([np.zeros(50), -(np.arange(50.0) ** 1.5)], axis=1),
        grid([12, 17]),
        np.zeros((1, 2)),
    ],
)
def test_the_least_distance_is_that_of_all_pairs(points):
    assert nearest(points) == (apart(points) if len(points) > 1 else 1)
