"""Collectives of groups and on faulty networks: beside brute force, networkx and every family."""

import json
from dataclasses import replace
from itertools import combinations, product

import networkx as nx
import numpy as np
import pytest
from serial.networks.test_members import NAMES, left
from serial.programs.bruteforce import SMALL, directed, fewest, later

import mpinet
from mpinet import Machine
from mpinet.certify.certificate import certify
from mpinet.certify.claims import BoundClaim
from mpinet.certify.joint import require_joint_cut
from mpinet.certify.network import Network
from mpinet.cli.session import CommandSession
from mpinet.errors import CertificateError, ModelViolation
from mpinet.machine import PortModel
from mpinet.networks.graph import from_networkx
from mpinet.networks.members import Members
from mpinet.programs.kinds import KINDS
from mpinet.programs.pipelines.collectives import plan
from mpinet.programs.pipelines.crossings import Demand, joint_cut
from mpinet.programs.pipelines.interleaving import interleaved
from mpinet.programs.pipelines.together import WantedCollective, run
from mpinet.programs.playing import perform


def ranked(graph, group):
    """The graph with the members first, as they are ranked."""
    order = [*group, *(u for u in graph if u not in group)]
    found = nx.DiGraph()
    found.add_nodes_from(range(len(graph)))
    found.add_edges_from((order.index(u), order.index(v)) for u in graph for v in graph[u])
    return found


@pytest.mark.parametrize("ports", ["one", "all"])
def test_no_bound_of_a_group_is_above_what_brute_force_takes(ports):
    met = 0
    for graph in [graph for graph in SMALL if len(graph) > 2]:
        for group in combinations(graph, len(graph) - 1):
            machine, members = Machine(Members(from_networkx(graph), group), ports), len(group)
            for name, sources in (("gossip", range(members)), ("broadcast", [0])):
                everything = frozenset(range(len(sources)))

                def done(held, everything=everything, members=members):
                    return all(one == everything for one in held[:members])

                best = fewest(ranked(graph, group), [*sources], ports == "one", done)
                found = plan(machine, name, 1, 0 if name == "broadcast" else None)
                run = perform(machine, found.table)
                assert run.correct and found.bound <= best <= run.steps
                met += found.bound == best == run.steps
    assert met > 40


@pytest.mark.costly
@pytest.mark.parametrize("name", NAMES)
def test_every_family_gathers_all_of_a_group_without_a_dead_node(name):
    network = mpinet.open(name)
    dead = network.size - 1
    alive = left(network, dead)
    group = [u for u in range(network.hosts) if u in alive][::2]
    part = Members(network, group, [dead])
    for ports in ("one", "all"):
        for collective in ("gossip", "reducescatter"):
            machine = Machine(part, ports)
            found = plan(machine, collective, 1)
            run = perform(machine, found.table)
            assert run.correct and found.bound <= run.steps


@pytest.mark.parametrize("name", ["torus:4x4,group=0-3+10,dead=5", "fattree:2,3,group=0+5-7"])
def test_a_scatters_bound_is_the_flow_in_time_of_networkx(name):
    part = mpinet.open(name)
    found = mpinet.optimum(name, collective="scatter", ports="all")
    assert found.exact
    for steps, enough in ((found.lower - 1, False), (found.lower, True)):
        graph = later(directed(part), steps)
        for node in range(1, part.hosts):
            graph.add_edge((node, steps), "all", capacity=1)
        flow = nx.maximum_flow_value(graph, (0, 0), "all")
        assert (flow == part.hosts - 1) is enough


def test_a_group_and_faults_have_certificates_and_one_that_claims_more_is_refused(tmp_path):
    file = tmp_path / "c.json"
    line = f"optimum gossip torus:4x4 --group 0-3,8 --faults node:5 --ports all --save {file}"
    assert CommandSession(line.split()).run() == 0
    assert CommandSession(["certify", str(file)]).run() == 0
    document = json.loads(file.read_text())
    assert document["network"] == "torus:4x4,group=0-3+8,dead=5"
    for change in ({"claim": document["claim"] | {"more_than": document["claim"]["more_than"] + 1}},
                   {"network": "torus:4x4,group=0-3+9,dead=5"}):  # fmt: skip
        file.write_text(json.dumps(document | change))
        assert CommandSession(["certify", str(file)]).run() == 1


def test_what_a_fault_costs_is_told_beside():
    found = mpinet.broadcast("ring:8", faults="link:0-1")
    assert (found.steps, found["intact_steps"]) == (7, mpinet.broadcast("ring:8").steps)
    found = mpinet.optimum("ring:8", collective="gossip", faults="link:0-1", ports="all")
    whole = mpinet.optimum("ring:8", collective="gossip", ports="all")
    assert (found.lower, found.upper) == (7, 7)
    assert (found["intact_bound"], found["intact_steps"]) == (whole.lower, whole.upper)
    assert "intact_steps" not in mpinet.broadcast("ring:8").value


def test_what_is_dead_carries_nothing():
    found = mpinet.gossip("torus:4x4", faults="node:5,link:0-1", ports="all", algorithm="rarest")
    assert found.correct
    part = mpinet.open("torus:4x4,dead=5+0-1")
    table = plan(Machine(part, "all"), "gossip", 1).table
    used = {
        (int(part.origin[u]), int(part.origin[v]))
        for u, v in zip(table.sender.tolist(), table.receiver.tolist(), strict=True)
    }
    assert 5 not in {end for pair in used for end in pair}
    assert not used & {(0, 1), (1, 0)}


@pytest.mark.parametrize(
    "line",
    [
        "gossip ring:8 --group 0-9",
        "gossip ring:8 --group 0,0",
        "gossip ring:8 --faults node:1,node:3",
        "broadcast ring:8 --group 0-3 --root 5",
        "reduce ring:8 --faults node:1@3",
        "exchange ring:8 --faults link:0-2",
    ],
)
def test_wrong_groups_and_faults_are_refused(line, capsys):
    assert CommandSession(line.split()).run() == 2
    said = capsys.readouterr().err
    assert said.startswith("mpinet: ") and said.count("\n") == 1


PAIRS = [([0, 1], [2, 3]), ([0, 2], [1, 3]), ([0, 3], [1, 2])]


def at_once(network, groups, collective, ports, items=1):
    model = PortModel.named(ports)
    parts = [Members(network, group) for group in groups]
    wanted = WantedCollective(model, collective, items, None, "forward")
    parties = [wanted.party(network, part, 0) for part in parts]
    demands = [Demand(collective, np.array(group), items) for group in groups]
    bound = max(one.bound for one in parties)
    bound = max(bound, joint_cut(network, ports == "one", demands)[0])
    return parties, interleaved(network, model, parties), bound


@pytest.mark.parametrize("ports", ["one", "all"])
def test_no_bound_of_two_groups_at_once_is_above_what_brute_force_takes(ports):
    met = 0
    for graph in [graph for graph in SMALL if len(graph) == 4]:
        network, digraph = from_networkx(graph), ranked(graph, [*graph])
        for groups in PAIRS:
            sources = [*groups[0], *groups[1]]

            def done(held, groups=groups, sources=sources):
                return all(
                    {sources.index(other) for other in group} <= held[member]
                    for group in groups
                    for member in group
                )

            best = fewest(digraph, sources, ports == "one", done)
            parties, tables, bound = at_once(network, groups, "gossip", ports)
            spent, sets = run(Machine(network, ports), parties, tables, 1, "sum")
            assert not any(held.short() for held in sets)
            assert bound <= best <= spent.steps
            met += bound == best == spent.steps
    assert met > 5


@pytest.mark.parametrize("collective", ["gossip", "allreduce", "exchange", "scatter", "gather"])
@pytest.mark.parametrize("name", ["ring:8", "mesh:2x4", "fattree:2,3", "dgx1", "hypercube:3"])
def test_what_a_cut_shows_of_groups_at_once_the_checker_confirms_and_not_a_step_more(
    name, collective
):
    network = mpinet.open(name)
    groups = tuple(tuple(range(at, 8, 4)) for at in range(4))
    root = 0 if collective in ("scatter", "gather") else None
    for one_port, items in product((True, False), (1, 3)):
        demands = [Demand(collective, np.array(group), items) for group in groups]
        joint, inside = joint_cut(network, one_port, demands)
        ports = "one" if one_port else "all"

        def check(steps, inside=inside, ports=ports, items=items):
            claim = BoundClaim(collective, ports, root, steps, items, groups=groups)
            require_joint_cut(claim, Network.of(network), {"inside": inside})

        if joint > 0:
            check(int(joint) - 1)
            with pytest.raises(CertificateError, match="messages must enter the set"):
                check(int(joint))
        for wrong in ([], "0", [network.size], [True]):
            with pytest.raises(CertificateError):
                check(0, inside=wrong)


def test_the_optimum_of_groups_at_once_has_a_certificate_that_names_them(tmp_path, capsys):
    file = tmp_path / "joint.cert"
    found = mpinet.optimum(
        "ring:8", collective="gossip", ports="all", items=3, group="2x4", save=file
    )
    assert (found.lower_by, found.correct) == ("joint", True)
    assert found.groups == [[0, 4], [1, 5], [2, 6], [3, 7]] and found.lower <= found.upper
    beside = mpinet.gossip("ring:8", ports="all", items=3, group="2x4")
    assert (beside.lower_bound, beside.steps) == (found.lower, found.upper)
    assert CommandSession(["certify", f"{file}"]).run() == 0
    assert "gossip of 3 items of 4 groups at once on ring:8, all ports" in capsys.readouterr().out
    good = json.loads(file.read_text())
    for change, reason in (
        ({"groups": [[0, 1], [4, 5]]}, "must enter the set"),
        ({"groups": [[0, 9]]}, "has a member that is not a processor"),
        ({"groups": [[0, 4], [4, 1]]}, "a processor twice"),
        ({"groups": []}, "not lists of processors"),
        ({"more_than": found.lower}, "must enter the set"),
        ({"items": 1}, "must enter the set"),
    ):
        file.write_text(json.dumps(good | {"claim": good["claim"] | change}))
        with pytest.raises(CertificateError, match=reason):
            certify(file)
    file.write_text(json.dumps(good | {"kind": "cut"}))
    with pytest.raises(CertificateError, match="if and only if its kind is joint"):
        certify(file)
    line = "optimum exchange ring:8 --ports all --group 2x4 --save"
    assert CommandSession([*line.split(), f"{tmp_path / 'none.cert'}"]).run() == 2
    assert "on ring:8 the bound of one group alone" in capsys.readouterr().err


@pytest.mark.costly
@pytest.mark.parametrize("collective", sorted(KINDS))
@pytest.mark.parametrize("name", ["torus:4x4", "fattree:2,3", "clens:3,3", "dgx1", "hypercube:3"])
def test_groups_at_once_have_what_they_need_and_take_no_less_than_the_bound(name, collective):
    network = mpinet.open(name)
    quarter = network.hosts // 4
    groups = [[*range(first, 4 * quarter, quarter)] for first in range(quarter)]
    for ports in ("one", "all"):
        parties, tables, bound = at_once(network, groups, collective, ports)
        spent, sets = run(Machine(network, ports), parties, tables, 1, "sum")
        assert not any(held.short() for held in sets)
        assert bound <= spent.steps == max(table.last for table in tables)
        assert spent.messages <= sum(len(table) for table in tables)


def test_what_comes_too_early_is_found_out():
    network = mpinet.open("ring:8")
    groups = [[0, 4], [1, 5]]
    parties, tables, _ = at_once(network, groups, "gossip", "all")
    last = tables[0].step == tables[0].last
    early = replace(tables[0], step=np.where(last, 1, tables[0].step))
    _, sets = run(Machine(network, "all"), parties, [early, tables[1]], 1, "sum")
    assert sets[0].short() and not sets[1].short()
    both = [replace(table, step=np.ones_like(table.step)) for table in tables]
    with pytest.raises(ModelViolation):
        run(Machine(network, "one"), parties, both, 1, "sum")


def test_the_joint_cut_is_a_cut_of_networkx():
    generator, met = np.random.default_rng(5), 0
    for name in ("torus:3x4", "petersen", "dgx1", "debruijn:3"):
        network = mpinet.open(name)
        nodes = generator.permutation(network.hosts)
        groups = [nodes[:4], nodes[4:8]]
        for collective in ("gossip", "exchange", "allreduce"):
            demands = [Demand(collective, each, 3) for each in groups]
            bound, entered = joint_cut(network, False, demands)
            best, by_entered, graph = 0, 0, directed(network)
            for size in range(1, network.size):
                for inside in combinations(range(network.size), size):
                    room = nx.cut_size(graph, inside, set(graph) - set(inside), "capacity") // 2
                    counts = [(len(set(each.tolist()) & set(inside)), 4) for each in groups]
                    needed = sum(
                        {"gossip": all_ - k, "exchange": k * (all_ - k), "allreduce": 1}[collective]
                        for k, all_ in counts
                        if 0 < k < all_
                    )
                    steps = -(-3 * needed // room)
                    best = max(best, steps)
                    if sorted(entered) == [*inside]:
                        by_entered = steps
            assert 0 < bound == by_entered <= best
            met += bound == best
    assert met > 8


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("gossip ring:8 --group 0-3/3-5", "processor 3 is in two groups"),
        ("gossip ring:8 --group 3x2", "not a multiple of 3 x 2"),
        ("gossip ring:8 --group 0x2", "not a multiple of 0 x 2"),
        ("gossip ring:8 --group 4x1 --duplex half", "--duplex half does not apply"),
        ("optimum bisection ring:8 --group 4x1", "applies to one group only"),
        ("optimum gossip ring:8 --group 4x1 --schedule s.csv", "--schedule does not apply"),
        ("optimum scatter ring:8 --group 4x1 --items 2", "--items does not apply to scatter"),
        ("broadcast ring:8 --group 4x1 --root 4", "is a switch"),
        ("broadcast ring:8 --group 4x1 --schedule", "--schedule does not apply"),
        ("circulate torus:4x4 --group 0-3/4-7", "circulate supports one group only"),
        ("allreduce ring:8 --group 2x4 --algorithm dimensions", "has no pipeline 'dimensions'"),
    ],
)
def test_wrong_groups_at_once_are_refused(line, reason, capsys):
    assert CommandSession(line.split()).run() == 2
    said = capsys.readouterr().err
    assert reason in said and said.count("\n") == 1


def test_a_rule_names_the_groups_of_tensor_and_data_parallelism():
    found = mpinet.gossip("torus:4x4", group="4x4")
    assert (found.steps, found.lower_bound) == (3, 3)
    assert [each["group"] for each in found["groups"]] == ["0-12:4", "1-13:4", "2-14:4", "3-15:4"]
    found = mpinet.broadcast("torus:4x4", group="0-3/4-7", faults="node:5", root=1)
    assert found["informed"] == 7 and found["intact_steps"] == 2
