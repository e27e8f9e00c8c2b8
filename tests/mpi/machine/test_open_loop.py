"""Open-loop traffic is what its specification says, on any number of ranks."""

from itertools import groupby, pairwise

import numpy as np
import pytest
from mpi.machine.openloop import golden, open_loop, simulate
from mpi.machine.ranks import transport

import mpinet
from mpinet import measure, rule
from mpinet.errors import ConservationError, RoutingError, UsageError
from mpinet.machine.faults import Faults
from mpinet.machine.machine import Machine
from mpinet.machine.router import Router
from mpinet.machine.traffic import run as run_module
from mpinet.machine.traffic import tables
from mpinet.machine.traffic.prefetching import LARGE
from mpinet.machine.traffic.results import results
from mpinet.machine.traffic.step import advance, advance_ahead, advance_plain
from mpinet.measure.deadlock import counted_classes
from mpinet.networks.routing import Routing, path, stateless

SETTINGS = range(len(golden()))
FEW = range(0, len(golden()), 6)
"""On many ranks, which share two cores here, some settings have to do."""


def settings_and_mappings():
    """All settings by blocks on one and two ranks, by a random mapping on three."""
    size = transport().size
    blocks, random = SETTINGS if size <= 2 else FEW, SETTINGS if size == 3 else FEW
    return [(each, "blocks") for each in blocks] + [(each, "random") for each in random]


@pytest.mark.parametrize(("number", "mapping"), settings_and_mappings())
def test_every_value_is_the_one_of_the_reference(number, mapping):
    known = golden()[number]
    found = simulate(known["trace"], mapping, **known["setting"])
    assert {name: found[name] for name in known["result"]} == known["result"]


@pytest.mark.parametrize(
    ("changes", "kernel", "large"),
    [({}, advance_plain, LARGE), ({}, advance_ahead, 1), ({"burst": 4.0}, advance, LARGE)],
    ids=["plain", "large", "bursts"],
)
def test_a_plain_run_is_what_the_kernel_for_all_runs_makes_of_it(
    changes, kernel, large, monkeypatch
):
    monkeypatch.setattr(run_module, "LARGE", large)
    plain = {"policy": "rotating", "crossbar": "one", "network": "torus:4x4", "rate": 0.3}
    run, general = open_loop(**plain, **changes), open_loop(**plain, **changes)
    assert run._make_steps is kernel
    general.__dict__["_make_steps"] = advance
    assert results(run.run()) == results(general.run())


def test_decisions_are_kept_only_where_node_and_target_make_them_and_change_no_result(monkeypatch):
    setting = {"policy": "rotating", "crossbar": "one", "network": "torus:4x4", "rate": 0.3}
    keeping = open_loop(**setting)
    found = results(keeping.run())
    known = keeping._routes.known.reshape(-1, 16)
    nodes = keeping.machine.nodes
    for slot, target in zip(*np.nonzero(known), strict=True):
        port = keeping.routing.decide(int(nodes[slot]), np.array([target]), keeping.routing.params)
        assert known[slot, target] == port + 2
    assert np.count_nonzero(known) > 0
    monkeypatch.setattr(tables, "MOST_WAYS", 0)
    asking = open_loop(**setting)
    assert asking._routes.known.size == 0
    assert results(asking.run()) == found


def test_decisions_of_a_users_rule_and_around_what_is_dead_are_not_kept():
    assert open_loop(network="ring:5")._routes.known.size > 0
    ring = mpinet.open("ring:5")

    @rule
    def upwards(node, header, params):
        return -1 if node == header[0] else 0

    own = stateless("own", upwards, ring, shortest=False)
    assert open_loop(network="ring:5", routing=own)._routes.known.size == 0
    assert open_loop(network="ring:5", faults=Faults(ring, [], [(0, 1)]))._routes.known.size == 0


def test_ranks_agree_on_open_messages_however_many_there_are() -> None:
    loop, rank, ranks = open_loop(), transport().rank, transport().size
    for moving in (0, 1):
        loop.ledger.moving, loop.ledger.open_told = moving * (rank == 0), (rank + 1) << 40
        loop._exchanged()
        assert loop.ledger.open_everywhere == ranks * (ranks + 1) // 2 << 40
        assert (loop.ledger.quiet == 0) == (moving == 1)


LONE = {
    "torus:4x5": ("dateline", 2),
    "mesh:3x4": ("none", 2),
    "ring:7": ("wrap", 2),
    "hypercube:4": ("none", 1),
    "debruijn:4": ("hops", 4),
    "gmnany:30": ("hops", None),
    "ccc:3": ("hops", 6),
    "ring:5*mesh:2x3": ("dateline", 2),
    "kautz:2,3": ("hops", 3),
    "fattree:2,3": ("hops", None),
    "hdn:2x3,super=0.1/0.1": ("hops", None),
}


@pytest.mark.parametrize("delay", [1, 3])
@pytest.mark.parametrize(("switching", "flits"), [("wormhole", 4), ("vct", 4), ("saf", 3)])
@pytest.mark.parametrize("network", list(LONE)[:: 1 if transport().size <= 2 else 4])
def test_a_lone_message_takes_what_the_closed_form_says(network, switching, flits, delay):
    topology = mpinet.open(network)
    classes, vcs = LONE[network]
    if vcs is None:
        vcs = counted_classes(topology, topology.routing(), classes).count
    source, target = 0, topology.hosts - 1
    hops = len(path(topology, topology.routing(), source, target)[1])
    found = simulate(
        [[0, source, target, flits]],
        network=network,
        switching=switching,
        classes=classes,
        vcs=vcs,
        buffer=8,
        delay=delay,
        warmup=0,
    )
    lone = (delay + flits - 1) * hops if switching == "saf" else delay * hops + flits - 1
    assert (found["latency_sum"], found["hops_sum"]) == (lone, hops)


@pytest.mark.parametrize(("buffer", "delay"), [(1, 1), (2, 1), (4, 2), (3, 3), (5, 1)])
def test_a_channel_is_busy_all_the_time_if_its_buffer_covers_the_way_and_back(buffer, delay):
    flits = 60
    found = simulate(
        [[0, 0, 1, flits]],
        network="mesh:2",
        vcs=1,
        buffer=buffer,
        delay=delay,
        classes="none",
        warmup=0,
    )
    rounds, rest = divmod(flits - 1, buffer)
    assert found["latency_sum"] == delay + rounds * max(2 * delay, buffer) + rest


def credits_and_flits(run):
    """Of every channel between nodes of this rank: its credits and the flits behind it."""
    state, vcs, ports = run._state, run.buffering.vcs, run.machine.topology.ports
    here = np.flatnonzero(state.links["owner"] == transport().rank)
    slots, out = np.divmod(here, ports)
    own = ((slots * (ports + 1) + out) * vcs)[:, np.newaxis] + np.arange(vcs)
    there = state.links["lane"][here][:, np.newaxis] + np.arange(vcs)
    return state.channels["credit"][own], state.lanes["filled"][there]


@pytest.mark.parametrize("switching", ["wormhole", "vct"])
def test_credits_and_flits_of_a_buffer_add_up_to_its_size_in_every_step(switching):
    run = open_loop(network="torus:4x4", rate=0.3, size=3, buffer=3, switching=switching, seed=5)
    held = 0
    for _ in range(120):
        run.advance(1)
        credit, flits = credits_and_flits(run)
        assert (credit >= 0).all() and (flits >= 0).all()
        assert (credit + flits == 3).all()
        held += int(flits.sum())
    assert held > 0


def test_no_channel_carries_more_than_a_flit_a_step():
    found = simulate(network="torus:4x4", rate=0.9, size=2, measure=200, drain=50)
    assert 0.5 < found["utilisation_max"] <= 1


@pytest.mark.parametrize("network", ["hypercube:6", "torus:6x5", "debruijn:5"])
@pytest.mark.parametrize("policy", ["oldest", "fifo"])
def test_queues_without_limit_are_the_routers_queued_mode(network, policy):
    topology = mpinet.open(network)
    machine = Machine(topology)
    targets = np.random.default_rng(3).integers(0, topology.size, topology.size)
    router = Router(machine, topology.routing(), policy=policy)
    mine = machine.nodes
    router.inject(mine, targets[mine], mine, topology.size)
    router.run()
    histogram, totals = router.latencies, router.totals
    trace = [[0, source, int(target), 1] for source, target in enumerate(targets)]
    found = simulate(
        trace,
        network=network,
        policy=policy,
        switching="saf",
        buffer=0,
        vcs=1,
        classes="none",
        warmup=0,
        measure=1,
    )
    assert found["latency_max"] == machine.steps
    assert found["latency_sum"] == int(np.arange(len(histogram)) @ histogram)
    assert found["hops_sum"] == totals["hops_total"]
    below = np.cumsum(histogram)
    assert found["latency_p99"] == int(np.argmax(below >= np.ceil(0.99 * topology.size)))


CIRCLE = [[0, node, (node + 3) % 8, 8] for node in range(8)]
"""Round the first row of torus:2x8 everybody waits for the next."""


def test_a_torus_of_one_class_comes_to_a_stop_and_says_where():
    found = simulate(
        CIRCLE, network="torus:2x8", vcs=1, buffer=2, classes="none", warmup=0, measure=20
    )
    assert found["deadlock"] and found["closed"] == -1
    assert found["cycle"] == [[node, 1, 0] for node in range(8)]
    assert found["stuck_flits"] == 8 * 2
    pairs = np.array(CIRCLE)[:, 1:3]
    ways = measure.channel_dependency_cycle("torus:2x8", pairs=pairs, classes="none")
    assert ways == [(node, 1, 0) for node in range(8)]


@pytest.mark.parametrize("classes", ["dateline", "wrap", "hops"])
def test_classes_keep_a_torus_going_at_twice_saturation(classes):
    vcs = 4 if classes == "hops" else 2
    found = simulate(
        network="torus:4x4", rate=0.5, size=4, vcs=vcs, buffer=2, classes=classes, measure=400
    )
    assert found["saturated"] and not found["deadlock"]
    assert found["stuck_flits"] == 0 and found["accepted"] > 0


TWICE_SATURATION = {"network": "torus:8x8x8", "rate": 0.25, "size": 4, "policy": "rotating"}
"""A flit a processor and step, where dimension order accepts half as much."""


@pytest.mark.long
def test_ten_million_flit_hops_at_twice_saturation_pass_where_one_class_comes_to_a_stop():
    found = simulate(**TWICE_SATURATION, vcs=2, classes="dateline", warmup=1000, measure=12000)
    assert found["loads_sum"] >= 10**7
    assert found["throughput"] <= found["offered"] / 2 and found["saturated"]
    assert not found["deadlock"] and found["stuck_flits"] == 0
    stopped = simulate(**TWICE_SATURATION, vcs=1, classes="none", warmup=1000, measure=10000)
    assert stopped["deadlock"] and stopped["closed"] == -1 and stopped["last_move"] < 10**4
    topology = mpinet.open("torus:8x8x8")
    channels = [tuple(channel[:2]) for channel in stopped["cycle"]]
    for (node, port), (there, _) in pairwise([*channels, channels[0]]):
        assert topology.neighbor(node, port) == there
    ends = np.array(stopped["cycle_messages"])[:, :2]
    assert measure.channel_dependency_cycle(topology, pairs=ends, classes="none") is not None


def test_a_part_that_waits_in_a_circle_is_found_by_closing():
    others = [[step, 13, 12, 1] for step in range(400)]
    found = simulate(
        CIRCLE + others, network="torus:2x8", vcs=1, buffer=2, classes="none", warmup=0, drain=30
    )
    assert found["deadlock"] and found["closed"] == 180
    assert found["cycle"] == [[node, 1, 0] for node in range(8)]
    assert found["unfinished"] == 8


@pytest.mark.parametrize("buffer", [4, 0])
def test_what_is_dead_is_counted_and_nothing_gets_lost(buffer):
    topology = mpinet.open("hypercube:5")
    faults = Faults(topology, [3], [(0, 1)])
    found = simulate(
        network="hypercube:5",
        faults=faults,
        buffer=buffer,
        switching="vct",
        classes="none",
        rate=0.2,
        size=2,
    )
    assert found["undeliverable"] > 0 and found["unfinished"] == 0
    assert found["generated"] == found["delivered"] + found["undeliverable"]


def lanes_of_links(run):
    """Of every lane of an input port of this rank: the place of its first flit, and all flits."""
    state, ports = run._state, run.machine.topology.ports
    vcs, size = run.buffering.vcs, run.buffering.buffers
    numbers, found = state.messages["number"], {}
    for row in range(len(state.lanes)):
        if row % ((ports + 1) * vcs) >= ports * vcs:
            continue
        first, filled = int(state.lanes[row].first), int(state.lanes[row].filled)
        places = row * size + (first + np.arange(filled)) % size
        found[row] = first, numbers[state.ring[places]].tolist()
    return found


def arrivals(run):
    """Make a run to its end: by lane the message of every flit that came; what was out of turn."""
    came, wrong, before = {}, [], lanes_of_links(run)
    while not run.ended and run.steps < 1000:
        run.advance(1)
        after = lanes_of_links(run)
        for row, (first, flits) in after.items():
            gone = int(first != before[row][0])
            more = flits[len(before[row][1]) - gone :]
            came.setdefault(row, []).extend(more)
            if (before[row][1] + more)[gone:] != flits:
                wrong.append((run.steps, row))
        before = after
    return came, wrong


MIXED = {"network": "mesh:4x4", "classes": "none", "rate": 0.2, "long_size": 4, "long_share": 0.5}
"""Messages of one and of four flits, close to saturation."""


@pytest.mark.parametrize("policy", ["oldest", "rotating"])
def test_flits_stay_in_order_in_a_lane_and_messages_do_not_mix(policy):
    run = open_loop(policy=policy, vcs=2, measure=80, **MIXED)
    came, wrong = arrivals(run)
    assert run.ended and not wrong
    whole = {tuple(len(list(flits)) for _, flits in groupby(each)) for each in came.values()}
    assert set().union(*whole) == {1, 4}
    assert all(len(set(each)) == len(list(groupby(each))) for each in came.values())


@pytest.mark.parametrize("policy", ["oldest", "rotating"])
def test_messages_of_a_source_and_target_arrive_in_order_on_one_virtual_channel(policy):
    pairs = [(source, (source + 5) % 16) for source in range(16)]
    trace = [[step, *pair, 1 + step % 3] for step in range(20) for pair in pairs]
    run = open_loop(trace, network="mesh:4x4", classes="none", vcs=1, policy=policy, warmup=0)
    arrived = {}
    for row, flits in arrivals(run)[0].items():
        here = int(run.machine.nodes[row // (run.machine.topology.ports + 1)])
        for number, _ in groupby(flits):
            if trace[number][2] == here:
                arrived.setdefault(here, []).append(number)
    for target, numbers in arrived.items():
        assert numbers == [16 * step + (target - 5) % 16 for step in range(20)]
    assert sorted(arrived) == sorted(run.machine.nodes)


def test_a_flit_that_overtakes_in_its_lane_is_seen():
    run = open_loop(vcs=1, measure=80, **MIXED)
    swapped, advance = [], run.advance

    def advance_and_swap(steps):
        advance(steps)
        mixed = [(row, at) for row, (at, flits) in lanes_of_links(run).items() if mixes(flits)]
        for row, at in mixed[:1]:
            places = row * run.buffering.buffers + (at + np.arange(2)) % run.buffering.buffers
            run._state.ring[places] = run._state.ring[places[::-1]]
            swapped.append((run.steps, row))
        if run.machine.sum(len(swapped))[0]:
            run.ledger.ended = 1

    run.advance = advance_and_swap
    _, wrong = arrivals(run)
    assert wrong == swapped and run.ended


def mixes(flits):
    """Whether there are two flits, of different messages."""
    return len(flits) == 2 and flits[0] != flits[1]


@rule
def round_and_round(node, header, params):
    return 0


@rule
def out_of_the_network(node, header, params):
    return 7


@rule
def everywhere_at_home(node, header, params):
    return -1


@rule
def class_nine(node, port, in_port, in_class, header, params):
    return 9


@pytest.mark.parametrize("buffer", [4, 0])
@pytest.mark.parametrize(
    ("decide", "said"),
    [
        (round_and_round, "does not come to an end"),
        (out_of_the_network, "which is not wired"),
        (everywhere_at_home, "which is not its target"),
    ],
)
def test_a_wrong_rule_ends_the_run_on_every_rank(decide, said, buffer):
    topology = mpinet.open("ring:6")
    wrong = stateless("wrong", decide, topology)
    run = open_loop([[0, 2, 4, 1]], network="ring:6", routing=wrong, buffer=buffer, switching="vct")
    with pytest.raises(RoutingError, match=said):
        run.run()


def test_a_class_that_there_is_not_ends_the_run():
    topology = mpinet.open("ring:6")
    known = topology.routing()
    wrong = Routing(
        "own", known.decide, known.params, known.header_bits, channel_class=class_nine, classes=2
    )
    run = open_loop([[0, 2, 4, 1]], network="ring:6", routing=wrong, classes="own")
    with pytest.raises(RoutingError, match=r"outside of 0\.\.1"):
        run.run()


@pytest.mark.parametrize("counted", ["born", "done", "withdrawn"])
def test_a_message_that_is_lost_or_doubled_is_noticed(counted):
    run = open_loop(network="mesh:4x4", classes="none", measure=20)
    setattr(run.ledger, counted, getattr(run.ledger, counted) + (transport().rank == 0))
    with pytest.raises(ConservationError, match="were generated, but"):
        run.run()


@pytest.mark.parametrize(("change", "outside"), [(-1, 0), (-1000, 1)])
def test_credits_that_do_not_agree_with_the_buffers_are_noticed(change, outside):
    run = open_loop(network="torus:4x4", measure=20)
    run._state.channels[0].credit += change * (transport().rank == 0)
    with pytest.raises(ConservationError, match=f"are {change} more .* {outside} virtual"):
        run.run()


def test_a_channel_that_carried_more_than_a_flit_a_step_is_noticed():
    run = open_loop(network="torus:4x4", measure=20)
    run.books.loads[0] += 21 * (transport().rank == 0)
    with pytest.raises(ConservationError, match="1 channels carried more than 20 flits"):
        run.run()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"vcs": 3}, "must be a multiple of 2, not 3"),
        ({"switching": "saf", "size": 5}, "give --buffers 5 or more"),
        ({"buffer": 0}, "goes with --switching saf or vct"),
        ({"buffer": 0, "switching": "saf", "policy": "rotating"}, "policy oldest or fifo"),
        ({"rate": 1.5}, "0..1 messages per step"),
        ({"policy": "newest"}, "no policy 'newest'"),
        ({"network": "mesh:4x4"}, "has no classes 'dateline'"),
        ({"pattern": "transpose", "network": "torus:3x3"}, "needs 4"),
        ({"pattern": "tornado", "network": "debruijn:4", "classes": "none"}, "coordinates"),
        ({"pattern": "hotspot:5,200"}, "give hotspot:NODE,PERCENT"),
        ({"burst": 0.5}, "last 1 step or more"),
    ],
)
def test_what_does_not_go_together_is_refused_in_one_sentence(changes, said):
    with pytest.raises(UsageError, match=said):
        open_loop(**changes)


FREE = {
    "ring:7": ("dateline", "wrap", "hops"),
    "torus:4x5": ("dateline", "wrap", "hops"),
    "torus:4x4": ("dateline", "wrap"),
    "ring:5*ring:4": ("dateline", "wrap"),
    "mesh:3x4": ("none",),
    "hypercube:4": ("none", "hops"),
    "debruijn:4": ("hops",),
    "kautz:2,3": ("hops",),
    "gmnany:20": ("hops",),
}


@pytest.mark.costly
@pytest.mark.parametrize("network", FREE)
def test_no_pairs_of_channel_and_class_depend_on_each_other_in_a_circle(network):
    for classes in FREE[network]:
        for routing in mpinet.open(network).routings:
            if classes == "hops" and not mpinet.open(network).routing(routing).shortest:
                continue
            assert measure.channel_dependency_cycle(network, routing, classes=classes) is None


def test_one_class_of_a_ring_depends_on_itself_where_the_machine_comes_to_a_stop():
    cycle = measure.channel_dependency_cycle("ring:8", classes="none")
    assert cycle == [(node, 0, 0) for node in range(8)]
    messages = [[0, node, (node + 3) % 8, 8] for node in range(8)]
    found = simulate(messages, network="ring:8", vcs=1, buffer=2, classes="none", warmup=0)
    assert found["cycle"] == [list(channel) for channel in cycle]


def test_a_class_that_there_is_not_is_refused_by_the_search_for_cycles():
    topology = mpinet.open("ring:6")
    known = topology.routing()
    wrong = Routing(
        "own", known.decide, known.params, known.header_bits, channel_class=class_nine, classes=2
    )
    with pytest.raises(UsageError, match="takes class 9"):
        measure.channel_dependency_cycle(topology, wrong, classes="own")
