"""Files of other tools as networks: BookSim's anynet, SimGrid's platforms, InfraGraph."""

import itertools
import json
import random
from collections import Counter

import networkx
import numpy as np
import pytest
import yaml

import mpinet
from mpinet.base.units import duration
from mpinet.cli.session import CommandSession
from mpinet.errors import TopologyError
from mpinet.networks.adjacency import Adjacency
from mpinet.networks.routing import path
from mpinet.networks.shortest import neighbor_table

ANYNET = "router 0 node 1 node 0 router 1 3\n\nrouter 1 router 0 3 node 10\nnode 2 router 1\n"

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<zone id="all" routing="Full">
%s
</zone>
</platform>"""

HOSTS = '<host id="b" speed="1Gf"/><host id="a" speed="1Gf"/><router id="r"/>'
CABLES = (
    '<link id="1" bandwidth="125MBps" latency="50us" sharing_policy="SPLITDUPLEX"/>'
    '<link id="2" bandwidth="10Gbps" latency="0.5ms"/>'
)
TWO = (
    f"{HOSTS}{CABLES}\n"
    '<route src="a" dst="r"><link_ctn id="1_UP"/></route>\n'
    '<route src="r" dst="b" symmetrical="NO"><link_ctn id="2"/></route>\n'
    '<route src="b" dst="r" symmetrical="NO"><link_ctn id="2"/></route>\n'
    '<route src="a" dst="b"><link_ctn id="1"/><link_ctn id="2"/></route>'
)


def cluster(radical, shape="", **more):
    """A platform of one cluster c, hosts h0, h1, .."""
    given = {"topology": shape.partition(" ")[0], "topo_parameters": shape.partition(" ")[2]}
    given = {name: text for name, text in (given | more).items() if text}
    words = " ".join(f'{name}="{text}"' for name, text in given.items())
    return PLATFORM % (
        f'<cluster id="c" prefix="h" suffix="" radical="{radical}" speed="1Gf" bw="1GBps" '
        f'lat="1us" {words}/>'
    )


def infrastructure(edges, links=(), count=2):
    """Boxes of two GPUs and a NIC behind a bridge, and a switch of four ports."""
    box = {
        "name": "box",
        "components": [
            {"name": "gpu", "choice": "xpu", "count": 2},
            {"name": "card", "choice": "device", "count": 1},
            {"name": "spare", "choice": "cpu", "count": 1},
        ],
        "links": [{"name": "bus"}],
        "edges": [
            {"ep1": {"component": "gpu"}, "ep2": {"device": "card", "component": "nic"},
             "scheme": "many2many", "link": "bus"},
            {"ep1": {"component": "gpu"}, "ep2": {"component": "gpu"},
             "scheme": "many2many", "link": "bus"},
        ],
    }  # fmt: skip
    card = {"name": "card", "components": [{"name": "nic", "choice": "nic", "count": 1}]}
    switch = {"name": "switch", "components": [{"name": "port", "choice": "port", "count": 4}]}
    return json.dumps({
        "name": "fabric",
        "devices": [box, card, switch],
        "instances": [{"name": "host", "device": "box", "count": count},
                      {"name": "sw", "device": "switch", "count": 1}],
        "links": [*links],
        "edges": edges,
    })  # fmt: skip


def edge(one, other, scheme="one2one", link="wire"):
    """An edge between (instance, component) and another."""
    ends = [{"instance": end[0], "component": end[1]} for end in (one, other)]
    return {"ep1": ends[0], "ep2": ends[1], "scheme": scheme, "link": link}


JOINED = [
    edge(("host[0:2]", "card.nic"), ("sw[0]", "port[1:3]")),
    edge(("sw", "port"), ("sw", "port"), "many2many"),
]


def opened(folder, text, name="file.xml"):
    """The network of a file."""
    path = folder / name
    path.write_text(text)
    return mpinet.open(f"graph:{path}")


def pairs(topology):
    """How many links join each two nodes, by their addresses."""
    return Counter(
        frozenset((topology.address(u), topology.address(v)))
        for u, port in itertools.product(range(topology.size), range(topology.ports))
        if (v := topology.neighbor(u, port)) > u
    )


def counted(*links):
    """Pairs, each as often as it is given."""
    return Counter(map(frozenset, links))


def test_anynet_has_nodes_in_ascending_order_behind_routers_with_cycles(tmp_path):
    found = opened(tmp_path, ANYNET, "anynet_file")
    assert [found.address(u) for u in range(6)] == ["0", "1", "2", "10", "router 0", "router 1"]
    assert found.hosts == 4
    links = [("0", "router 0"), ("1", "router 0"), ("2", "router 1"), ("10", "router 1")]
    assert pairs(found) == counted(*links, ("router 0", "router 1"))
    assert sorted(found.link_costs["latency"]) == ["1", "3"]
    assert opened(tmp_path, "router 5 node 0 node 1\n", "plain").link_costs == {}


def test_a_platform_is_its_routes_of_one_link_with_costs(tmp_path):
    found = opened(tmp_path, PLATFORM % TWO)
    assert [found.address(u) for u in range(3)] == ["b", "a", "r"]
    assert (found.hosts, pairs(found)) == (2, counted("ar", "br"))
    assert set(found.link_classes) == {
        "latency 50us, time_byte 8ns",
        "latency 500us, time_byte 800ps",
    }


def full(hosts, links, routes, more=""):
    """A platform of hosts, links with attributes, and routes ``u-v: l m n``, perhaps one way."""
    lines = [f'<host id="{host}" speed="1f"/>' for host in hosts]
    lines += [f'<link id="{name}" bandwidth="1Bps" {said}/>' for name, said in links.items()]
    for route in routes:
        ends, _, names = route.partition(": ")
        u, one_way, v = ends.partition(">") if ">" in ends else ends.partition("-")
        parts = "".join(f'<link_ctn id="{name}"/>' for name in names.split())
        once = ' symmetrical="NO"' if one_way == ">" else ""
        lines.append(f'<route src="{u}" dst="{v}"{once}>{parts}</route>')
    return PLATFORM % "\n".join([*lines, more])


def latencies(network, source, target):
    """The latencies of the links that the file's own route passes, one after the other."""
    ends = network.node(source), network.node(target)
    nodes, ports = path(network, network.routing("routes"), *ends)
    kinds = [network.link_class(node, port) for node, port in zip(nodes, ports, strict=False)]
    return [network.link_costs["latency"][kind] for kind in kinds]


@pytest.mark.parametrize("seed", range(30))
def test_links_are_found_from_the_routes_of_a_hidden_network(seed, tmp_path):
    """Some nodes of a drawn network are no hosts, and the file names its links on routes alone."""
    draw = random.Random(seed)
    size = draw.randint(4, 14)
    hidden = networkx.random_labeled_tree(size, seed=seed)
    hidden.add_edges_from(draw.sample(range(size), 2) for _ in range(seed % 3))
    leaves = {node for node in hidden if hidden.degree(node) == 1}
    hosts = sorted(leaves | set(draw.sample(range(size), 2)))
    names = {frozenset(edge): f"l{at}" for at, edge in enumerate(hidden.edges)}
    routes = {}
    for u, v in itertools.combinations(hosts, 2):
        way = networkx.shortest_path(hidden, u, v)
        routes[u, v] = [names[frozenset(edge)] for edge in itertools.pairwise(way)]
    links = {name: f'latency="{name[1:]}us"' for name in names.values()}
    said = [f"{u}-{v}: {' '.join(route)}" for (u, v), route in routes.items()]
    found = opened(tmp_path, full(hosts, links, said))
    assert found.hosts == len(hosts)
    passed = {name for route in routes.values() for name in route}
    assert found.most_wired == 2 * len(passed) and found.ignored == ()
    for (u, v), route in routes.items():
        wanted = [duration(f"{name[1:]}us", "fs") for name in route]
        for ends, costs in (((u, v), wanted), ((v, u), wanted[::-1])):
            hops = latencies(found, *map(str, ends))
            assert [duration(text, "fs") for text in hops] == costs


SHARED = full(
    "abcd",
    {"1": 'latency="1us"', "2": 'latency="2us" sharing_policy="FATPIPE"', "3": 'latency="3us"',
     "4": 'latency="4us" state_file="x"', "5": 'latency="5us"', "6": 'latency="6us"'},
    ["a-a: 1", "a-b: 1", "a-c: 1", "a-d: 2 3", "b-c: 4 5 6", "b>d: 3 4", "d>b: 5", "c-d: 6"],
    '<trace id="t"/>',
)  # fmt: skip


def test_what_a_platform_has_and_a_network_has_not_is_listed(tmp_path):
    found = opened(tmp_path, SHARED)
    said = {note.partition(": ")[0].partition(" (")[0]: note for note in found.ignored}
    assert [*said] == [
        "routes from a host to itself", "elements", "direction of links", "sharing of links by "
        "several pairs of ends", "FATPIPE", "changes of links in time", "routes longer than "
        "the shortest path, which messages take",
    ]  # fmt: skip
    assert said["elements"] == "elements: <trace>" and said["FATPIPE"].endswith(": 2")
    assert "b to c (3 links, 2 are enough)" in found.ignored[-1]
    assert latencies(found, "a", "c") == ["1us"] and latencies(found, "a", "b") == ["1us"]
    for route in ("b c 4 5 6", "c b 6 5 4", "b d 3 4", "d b 5", "a d 2 3", "d a 3 2"):
        source, target, *names = route.split()
        assert latencies(found, source, target) == [f"{name}us" for name in names]


def test_show_prints_what_is_ignored_and_the_document_has_it(tmp_path, capsys):
    found = opened(tmp_path, SHARED)
    assert CommandSession(["show", found.name]).run() == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if "ignored" in line] == [
        f"ignored: {note}" for note in found.ignored
    ]
    assert mpinet.show(found).ignored == [*found.ignored]
    assert "ignored" not in mpinet.show("ring:4").value


def test_backbones_and_limiters_of_clusters_are_listed_and_change_no_wiring(tmp_path):
    plain = opened(tmp_path, cluster("0-3"))
    for what, words in {
        "backbones": {"bb_bw": "1GBps", "bb_lat": "1us"},
        "limiter_link": {"limiter_link": "1GBps"},
        "FATPIPE": {"sharing_policy": "FATPIPE"},
        "routes from a host to itself": {"loopback_bw": "1GBps", "loopback_lat": "0"},
    }.items():
        found = opened(tmp_path, cluster("0-3", **words))
        assert pairs(found) == pairs(plain) and found.link_costs == plain.link_costs
        (note,) = found.ignored
        assert note.startswith(what) and note.endswith(": c")


def test_hosts_and_cabinets_of_a_cluster_zone_join_its_router(tmp_path):
    zone = (
        '<zone id="z" routing="Cluster">'
        '<cabinet id="k" prefix="k" suffix="" radical="1-2" speed="1f" bw="1Bps" lat="1us"/>'
        '<router id="hub"/><host id="own"/><backbone id="back" bandwidth="9Bps" latency="0"/>'
        '<link id="up" bandwidth="1Bps" latency="1us" sharing_policy="SPLITDUPLEX"/>'
        '<host_link id="own" up="up_UP" down="up_DOWN"/></zone>'
    )
    found = opened(tmp_path, PLATFORM % zone)
    assert pairs(found) == counted(("k1", "hub"), ("k2", "hub"), ("own", "hub"))
    assert (found.hosts, len(found.link_classes)) == (3, 1)
    assert found.ignored == ("backbones (all routes of a cluster share their bandwidth): back",)
    unnamed = opened(tmp_path, PLATFORM % zone.replace('<router id="hub"/>', ""))
    assert pairs(unnamed) == counted(*((host, "z_router") for host in ("k1", "k2", "own")))


def test_zones_meet_at_their_gateways(tmp_path):
    zones = "".join(
        f'<zone id="{name}" routing="Floyd"><host id="{name}h" speed="1f"/><router id="{name}r"/>'
        f'<link id="{name}" bandwidth="1Bps"/>'
        f'<route src="{name}h" dst="{name}r"><link_ctn id="{name}"/></route></zone>'
        for name in "xy"
    )
    joined = '<zoneRoute src="x" dst="y" gw_src="xr" gw_dst="yr"><link_ctn id="z"/></zoneRoute>'
    found = opened(tmp_path, PLATFORM % f'{zones}<link id="z" bandwidth="1Bps"/>{joined}')
    assert pairs(found) == counted(("xh", "xr"), ("xr", "yr"), ("yr", "yh"))


def test_clusters_are_stars_tori_fat_trees_and_dragonflies(tmp_path):
    star = opened(tmp_path, cluster("0-2,7"))
    assert pairs(star) == counted(*((f"h{u}", "hc_router") for u in (0, 1, 2, 7)))
    assert (star.hosts, star.size) == (4, 5)
    torus = opened(tmp_path, cluster("0-23", "TORUS 4,3,2"))
    grid = networkx.grid_graph([range(4), range(3), range(2)], periodic=True)
    number = {(z, y, x): f"h{x + 4 * y + 12 * z}" for z, y, x in grid}
    assert pairs(torus) == counted(*((number[u], number[v]) for u, v in grid.edges))
    tree = opened(tmp_path, cluster("0-23", "FAT_TREE 2;4,6;3,2;2,1"))
    assert pairs(tree) == counted(*related((4, 6), (3, 2), (2, 1)))
    fly = opened(tmp_path, cluster("0-35", "DRAGONFLY 3,4;3,2;2,1;2"))
    assert pairs(fly) == counted(*flown(3, 3, 2, 2))
    assert set(fly.link_costs["time_byte"]) == {"1ns", "500ps", "250ps"}


def related(down, up, cables):
    """The cables of a fat tree, by the labels: those of the level's digit alone may differ."""
    levels = len(down)

    def labels(level):
        sides = [up[j] if j < level else down[j] for j in range(levels)]
        return [place[::-1] for place in itertools.product(*map(range, sides[::-1]))]

    def name(level, at):
        return f"h{at}" if level == 0 else f"hc_router:{level}.{at}"

    for level in range(levels):
        for (u, child), (v, parent) in itertools.product(
            enumerate(labels(level)), enumerate(labels(level + 1))
        ):
            if all(child[j] == parent[j] for j in range(levels) if j != level):
                yield from [(name(level, u), name(level + 1, v))] * cables[level]


def flown(groups, chassis, blades, nodes):
    """The links of a dragonfly, from what any two routers have in common."""
    places = [*itertools.product(range(groups), range(chassis), range(blades))]
    for (u, one), (v, other) in itertools.combinations(enumerate(places), 2):
        same = [a == b for a, b in zip(one, other, strict=True)]
        within = [place[1] * blades + place[2] for place in (one, other)]
        if (same[0] and sum(same) == 2) or (not same[0] and within == [other[0], one[0]]):
            yield f"hc_router:{u}", f"hc_router:{v}"
    for at in range(len(places) * nodes):
        yield f"h{at}", f"hc_router:{at // nodes}"


DOT = """/* a box */ strict graph "my \\" box" {
  graph [bgcolor=white]; rankdir = LR
  node [shape=circle]
  // a chain, a group and a port
  a -- b -- c:north [capacity=2, color="red"]
# a line of a preprocessor
  a -- { d e }
  subgraph cluster0 { edge [capacity=3] d -- e; x [switch=true, label=<hub>] }
  "x" -- "a" + "" ; a -- b
}
"""


def test_dot_has_chains_groups_defaults_and_switches(tmp_path):
    found = opened(tmp_path, DOT.replace("<hub>", "hub"), "box.gv")
    assert [found.address(u) for u in range(found.size)] == [*"abcde", "x"]
    links = ["ab", "ab", "bc", "bc", "ad", "ae", "de", "de", "de", "ax"]
    assert (found.hosts, pairs(found)) == (5, counted(*links))
    loose = opened(tmp_path, DOT.replace("<hub>", "hub").replace("strict ", ""), "box.dot")
    assert pairs(loose) == counted(*links, "ab")


def test_columns_of_csv_are_attributes_of_links(tmp_path):
    rows = '\ufeffsource,target,capacity,class\r\na,"b c",2,1\r\n\r\nb c,d,,0\r\n'
    found = opened(tmp_path, rows, "net.csv")
    assert pairs(found) == counted(("a", "b c"), ("a", "b c"), ("b c", "d"))
    assert found.link_classes == ("class 0", "class 1")
    for text in ("source,target\n3,1\n1,2\n", "3,1\n1,2\n", "# u,v\n3,1\n1,2"):
        plain = opened(tmp_path, text, "plain.csv")
        assert pairs(plain) == counted("13", "12")


def test_infragraph_has_xpus_as_processors_and_no_idle_parts(tmp_path):
    wire = {"bandwidth": {"choice": "gigabits_per_second", "gigabits_per_second": 400}}
    found = opened(tmp_path, infrastructure(JOINED, [{"name": "wire", "physical": wire}]), "f.json")
    names = [found.address(u) for u in range(found.size)]
    assert names[:4] == ["host.0.gpu.0", "host.0.gpu.1", "host.1.gpu.0", "host.1.gpu.1"]
    assert (found.hosts, len(names), any("spare" in name for name in names)) == (4, 10, False)
    boxes = [
        (f"host.{box}.{one}", f"host.{box}.{other}")
        for box in range(2)
        for one, other in itertools.combinations(("gpu.0", "gpu.1", "card.0.nic.0"), 2)
    ]
    ports = [*itertools.combinations((f"sw.0.port.{port}" for port in range(4)), 2)]
    cards = [(f"host.{box}.card.0.nic.0", f"sw.0.port.{box + 1}") for box in range(2)]
    assert pairs(found) == counted(*boxes, *ports, *cards)
    assert found.link_costs == {}  # the links within a box say nothing of their rate


def test_a_rate_that_all_links_have_is_a_time_per_byte(tmp_path):
    wire = {"bandwidth": {"choice": "gigabytes_per_second", "gigabytes_per_second": 25},
            "latency": {"choice": "ns", "ns": 700}}  # fmt: skip
    document = json.loads(infrastructure(JOINED, [{"name": "wire", "physical": wire}]))
    document["devices"][0]["links"][0]["physical"] = wire
    found = opened(tmp_path, json.dumps({"infrastructure": document}), "f.json")
    assert found.link_classes == ("latency 700ns, time_byte 40ps",)


def test_an_infragraph_in_yaml_is_the_one_in_json(tmp_path):
    wire = {"bandwidth": {"choice": "gigabits_per_second", "gigabits_per_second": 400}}
    text = infrastructure(JOINED, [{"name": "wire", "physical": wire}])
    said = yaml.safe_dump({"infrastructure": json.loads(text)})
    for document in (said, yaml.safe_dump(json.loads(text))):
        one, other = opened(tmp_path, text, "f.json"), opened(tmp_path, document, "f.yaml")
        assert [one.address(u) for u in range(one.size)] == [
            other.address(u) for u in range(other.size)
        ]
        assert (pairs(one), one.hosts, one.ports) == (pairs(other), other.hosts, other.ports)


ENTITY = '<!DOCTYPE platform [<!ENTITY a "b">]><platform/>'

MANY = " ".join(map(str, range(1100)))
DOT_REFUSED = [
    ("digraph { a -> b }", "the graph is directed"),
    ("graph {\n a -> b }", "line 2: -> is for directed graphs"),
    ("graph {\n a -- \n", "line 3: a name or value is missing"),
    ("graph { a -- b } graph { }", "line 1: a second graph begins"),
    ("graph {\n\na -- b [x=<b>] }", "line 3: '<' is not expected"),
    ("a -- b", "line 1: the word graph is missing"),
    ("graph a b {}", "line 1: { is missing before 'b'"),
    ("graph { a -- b [capacity=none] }", "the capacity of the link between a and b"),
    ("graph " + "{" * 9999, "is not a readable DOT"),
    (f"graph {{ {{{MANY}}} -- {{{MANY}}} }}", "line 1: there are more than 1048576 links"),
]  # fmt: skip
CSV_REFUSED = [
    ("source,target\na,b,c\n", "line 2 has 3 cells"),
    ("source,target,weight\na,b,1\n", "line 1: 'weight' is not one of bandwidth, capacity"),
    ("source,target\na\n", "line 2 has 1 cells"),
    ("source,target,capacity\na,b,x\n", "the capacity of the link between a and b"),
    ("source,target\n", "the graph has 0 nodes"),
]


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [("a.dot", *case) for case in DOT_REFUSED] + [("a.csv", *case) for case in CSV_REFUSED],
)
def test_what_is_no_graph_in_dot_or_csv_is_refused_by_line(name, text, sentence, tmp_path):
    with pytest.raises(TopologyError) as error:
        opened(tmp_path, text, name)
    assert sentence in str(error.value) and "\n" not in str(error.value)


REFUSED = [
    ("router 0 node 1\nrouter 1 node 1\n", "line 2: node 1 has two routers, 0 and 1"),
    ("node 0 node 1\n", "line 1: node 0 is joined to a node"),
    ("router 0 node 0 router 1 7\nrouter 1 node 1\n", "line 1: the channel from router 0"),
    ("router 0 node 0 rooter 1\n", "line 1: 'rooter' is not router or node"),
    ("router 0 node 0 router 1 2 3\n", "line 1: write a number after router and node"),
    ("router 0 router 1\n", "all nodes are switches"),
    (ENTITY, "line 1: document types and entities are not read"),
    (PLATFORM % '<zone id="v" routing="Vivaldi"/>', "line 5: routing 'Vivaldi' gives no ends"),
    (PLATFORM % "<peer/>", "line 5: <peer> is not supported"),
    (PLATFORM % '<host id="a" speed="1f"/>\n<host id="a" speed="1f"/>', "line 6: there are two no"),
    (PLATFORM % TWO.replace("125MBps", "much"), "line 5: 'much' is not a bandwidth"),
    (PLATFORM % TWO.replace("SPLITDUPLEX", "WIFI"), "line 5: a WIFI link does not join two ends"),
    (PLATFORM % "<bypassRoute/>", "line 5: <bypassRoute> is not supported"),
    (PLATFORM % '<zone id="z" routing="Cluster"><host_link id="a" up="1" down="1"/></zone>',
     "line 5: no host 'a' is in the zone"),
    (PLATFORM % '<zone id="z" routing="None"><host id="a"/><host id="b"/></zone>', "2 components"),
    (PLATFORM % TWO.replace("1_UP", "9"), "line 6: link '9' is not defined above"),
    (PLATFORM % TWO.replace('dst="r"', 'dst="q"'), "line 6: host or router 'q' is not defined"),
    (cluster("0-99999999"), "line 5: radical: there are more than 1048576 hosts"),
    (cluster("0-4", "TORUS 2,2"), "line 5: topo_parameters ask for 4 hosts, and radical names 5"),
    (cluster("0-4", "RING 5"), "line 5: a cluster's topology is FLAT, TORUS,"),
    (cluster("0-7", "DRAGONFLY 4,1;1,1;2,1;1"), "4 groups need more than the 2 routers"),
    (infrastructure([edge(("host[0:3]", "gpu"), ("sw", "port"))]), "[0]: host[0:3]: host has"),
    (infrastructure([edge(("host", "cpu"), ("sw", "port"))]), "edges[0]: 'cpu' does not exist"),
    (infrastructure([edge(("host", "gpu"), ("sw", "port"), "star")]), "[0]: an edge's scheme"),
    (infrastructure(JOINED).replace('"box", "count"', '"bag", "count"'), "device 'bag' does not"),
    (infrastructure(JOINED).replace("xpu", "cpu"), "no component has the choice xpu"),
    (infrastructure(JOINED, count=10**6), "more than 1048576 nodes or links"),
    (infrastructure([])[:-2], "not a readable InfraGraph"),
    ("devices: &a []\nedges: *a\n", "line 2: the alias *a is not supported"),
    ("devices: !!python/name:os.system\n", "line 1: the file is not YAML of plain values"),
    ("devices:\n- [\n", "line 3: the file is not YAML of plain values"),
    ("devices:\n" + "- " * 5000, "is not a readable InfraGraph (YAML)"),
    ("devices: []\n" + "#" * 2**22, "more than 4,194,304 bytes: convert the file to JSON"),
    ("hello\n", "has none of the recognized contents"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "sentence"), REFUSED)
def test_what_is_no_network_is_refused_by_name_and_place(text, sentence, tmp_path):
    with pytest.raises(TopologyError) as error:
        opened(tmp_path, text, "some.file")
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_a_hub_of_65536_hosts_has_a_port_to_each(tmp_path):
    """Walks over its links look at 2 x 65,536 ports, not at 65,537 times as many as the hub has."""
    hub = opened(tmp_path, cluster("0-65535"))
    assert (hub.hosts, hub.size, hub.ports) == (65536, 65537, 65536)
    assert hub.port_counts(np.array([0, 65535, 65536])).tolist() == [1, 1, 65536]
    for network in (hub, mpinet.open("star:65537")):
        assert network.port_counts(np.arange(network.size)).sum() == network.most_wired == 131072
        assert mpinet.measure.degrees(network) == {1: 65536, 65536: 1}
        lists = Adjacency.of(network)
        centre = int(np.argmax(lists.degrees))
        assert np.array_equal(np.delete(lists.others, slice(*lists.begin[centre : centre + 2])),
                              np.full(65536, centre))  # fmt: skip


@pytest.mark.parametrize("name", ["tree:3,3", "star:9", "graph"])
def test_no_port_beyond_those_that_are_counted_is_wired(name, tmp_path):
    network = opened(tmp_path, "0 1\n0 2\n0 2\n2 3\n", "a.edges")
    network = network if name == "graph" else mpinet.open(name)
    table = neighbor_table(network)
    counts = network.port_counts(np.arange(network.size))
    assert [int(np.flatnonzero(row >= 0).max()) + 1 for row in table] == counts.tolist()
    assert (table >= 0).sum() == network.most_wired
