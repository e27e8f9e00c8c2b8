"""Options of routers: what they do to a message alone and to a full network; what is refused."""

import warnings

import pytest

import mpinet
from mpinet.errors import UsageError

ALONE = {"pattern": "neighbour", "rate": 0.001, "warmup": 0, "steps": 400, "flits": 3}


@pytest.mark.parametrize(
    ("network", "options", "hops"),
    [("torus:4x4", {"link_delay": [2, 5]}, 2 + 5), ("ring:6", {"link_delay": [4]}, 4)],
)
def test_a_message_alone_takes_the_delays_of_its_links_and_routers(network, options, hops):
    (point,) = mpinet.load(network, **ALONE, **options).curves[0].points
    assert point.delivered > 0 and point.latency_p50 == hops + 3 - 1
    links = len(network.split("x"))
    (point,) = mpinet.load(network, **ALONE, **options, router_delay=2, buffers=16).curves[0].points
    assert point.latency_p50 == hops + 2 * (links + 1) + 3 - 1


def test_global_links_of_a_dragonfly_are_longer():
    (point,) = (
        mpinet.load("dragonfly:1,2,1", rate=0.001, warmup=0, steps=2000, link_delay="1,20")
        .curves[0]
        .points
    )
    # Of two routers in three groups one has the link to each other group: two terminals, at most
    # two local links, and the global one.
    assert point.latency_max == 4 + 20


def test_cables_are_as_long_as_a_file_of_places_has_them(tmp_path):
    file = tmp_path / "places.csv"
    file.write_text("node,x,y\n0,0,0\n1,3,0\n2,0,5\n3,3,5\n")
    crowded = {"rate": 0.2, "warmup": 20, "steps": 200, "buffers": 16}
    found = [
        mpinet.load("mesh:2x2", link_delay=delay, **crowded).curves[0].points[0]
        for delay in (str(file), [5, 3])
    ]
    assert found[0].seal == found[1].seal and found[0].delivered > 100
    # All are 1 long where they stand side by side, or in one place.
    file.write_text("3,1\n2,1\n1,0\n0,0\n")
    (point,) = mpinet.load("mesh:2x2", link_delay=str(file), **crowded).curves[0].points
    (plain,) = mpinet.load("mesh:2x2", **crowded).curves[0].points
    assert point.seal == plain.seal


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("0,1\n1,2\n2,3\n", "place 3 of the 4 nodes of mesh:2x2"),
        ("0,1\n1,2\n2,3\n3,4\n3,5\n", "5 lines place 4 of the 4 nodes"),
        ("0,1,2\n1,2\n", "'1,2' is not a line 'node,x,y,..'"),
        ("0,-1\n", "'0,-1' is not a line"),
        ("", "0 lines place 0"),
        (f"0,{2**31}\n", "a coordinate is below"),
    ],
)
def test_a_file_that_does_not_place_every_node_is_refused(lines, said, tmp_path):
    file = tmp_path / "places.csv"
    file.write_text(lines)
    with pytest.raises(UsageError, match=said):
        mpinet.load("mesh:2x2", link_delay=str(file))


def test_wider_inputs_with_queues_and_better_matchings_carry_more():
    def full(**options):
        (point,) = mpinet.load("torus:4x4", rate=1, vcs=8, limit=0, **options).curves[0].points
        return point.throughput

    # Once a round grants nothing all further ones are the same, and are not made.
    rounds = [full(policy="islip", iterations=count) for count in (1, 3, 5, 2**31 - 1)]
    assert rounds[1] > rounds[0] and rounds[3] == rounds[2]
    assert full(crossbar=2, output_queue=4) > full(output_queue=0)


MIXED = "mix:neighbour@0.1+uniform"


def test_urgent_messages_hardly_notice_an_overload_of_the_others():
    (point,) = mpinet.load("mesh:4x4", pattern=MIXED, priority=True, rate=0.9).curves[0].points
    alone = mpinet.load("mesh:4x4", pattern="neighbour", rate=0.09, vcs=1).curves[0].points[0]
    urgent, ordinary = point.latency_by_kind["urgent"], point.latency_by_kind["ordinary"]
    assert urgent["mean"] < 1.25 * alone.latency_mean < 0.2 * ordinary["mean"]
    rates = point.rates_by_kind
    assert rates["urgent"]["throughput"] == pytest.approx(0.09, rel=0.1)
    assert sum(each["accepted_flits"] for each in rates.values()) == point.accepted_flits


def test_of_three_priorities_the_last_alone_notices_its_overload():
    pattern = "mix:uniform@0.1+uniform@0.1+uniform"
    (point,) = mpinet.load("mesh:4x4", pattern=pattern, priority=True, rate=0.9).curves[0].points
    urgent, second, ordinary = (
        point.latency_by_kind[name]["mean"] for name in ("urgent", "second", "ordinary")
    )
    assert urgent < second < 0.8 * ordinary
    rates = point.rates_by_kind
    assert rates["second"]["throughput"] == pytest.approx(rates["urgent"]["throughput"], rel=0.1)
    assert sum(each["accepted_flits"] for each in rates.values()) == point.accepted_flits


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"output_queue": "2:0"}, "--output-queue '2:0': give Q, or Q:S"),
        ({"crossbar": "two"}, "--crossbar 'two': give one, all or a number"),
        ({"crossbar": 0}, "crossbar is a whole number 1"),
        ({"link_delay": [0, 1]}, "link-delay is a whole number 1"),
        ({"router_delay": -1}, "router-delay is a whole number 0"),
        ({"faults": "link:0-1@5-"}, "give the steps as @FROM or @FROM-TO"),
        ({"faults": "node:3@7-7"}, "second step must be later"),
        ({"faults": "node:3@7", "replies": 1, "outstanding": 2}, "give --faults or --outstanding"),
        ({"faults": "node:3@7", "program": "allreduce:ring,64"}, "processor 3 has operations"),
        (
            {"faults": "link:0-1@7", "buffers": 0, "switching": "saf", "policy": "oldest"},
            "for --buffers 1 or more",
        ),
        ({"network": "gmn:4,16", "routing": "planned", "faults": "node:3@7"}, "other headers"),
        (
            {"classes": "bubble", "switching": "vct", "routing": "valiant"},
            "return to rings after leaving",
        ),
        ({"pattern": "groups:transpose@8+uniform"}, "and the ring of 2 groups has 2"),
        ({"pattern": "groups:uniform@4+hotspot:9,5"}, "Node 9 is not in a group of 4"),
        ({"program": "allreduc:ring,1kB"}, "no collective 'allreduc'.* did you mean allreduce"),
        ({"program": "alltoall:linear,8", "place": "nofile"}, "snake, cycle or a file: cannot"),
        ({"priority": True}, "give --pattern mix:P@SHARE"),
        ({"priority": True, "pattern": MIXED, "replies": 1}, "messages of one length, without"),
        (
            {"priority": True, "pattern": MIXED, "vcs": 2},
            "2 priorities share the virtual channels of a link, and --classes dateline divides "
            "each part into 2 classes: --vcs must be a multiple of 4, not 2",
        ),
        (
            {"network": "mesh:4x4", "priority": True, "pattern": MIXED, "vcs": 3},
            "2 priorities share the virtual channels of a link: --vcs must be a multiple of 2",
        ),
        ({"pattern": "mix:uniform@0.6+uniform@0.4+uniform"}, "shares below 1 in all"),
        ({"pattern": f"mix:{'uniform@0.1+' * 8}uniform"}, "up to 8 patterns"),
        ({"iterations": 2}, "--iterations needs --policy inputfirst, outputfirst, islip"),
        ({"classes": "bubble"}, "give --switching vct or saf"),
        ({"network": "mesh:4x4", "classes": "bubble"}, "has no classes 'bubble'"),
        (
            {"buffers": 0, "switching": "saf", "policy": "oldest", "output_queue": 1},
            "without --router-delay and --output-queue",
        ),
        ({"buffers": 0, "switching": "saf", "policy": "islip"}, "not islip"),
    ],
)
def test_what_does_not_go_together_is_refused_in_a_sentence(options, said):
    options = {"network": "torus:4x4"} | options
    with pytest.raises(UsageError, match=said):
        mpinet.load(options.pop("network"), **options)


def test_delays_for_which_there_are_no_links_are_told():
    with pytest.warns(UserWarning, match="1 class; the last 2 of the 3 delays"):
        mpinet.load("ring:6", **ALONE, link_delay=[4, 9, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mpinet.load("torus:4x4", **ALONE, link_delay=[4, 9])


def test_a_program_has_neither_a_rate_nor_a_bound():
    shown = str(mpinet.load("ring:4", program="allreduce:ring,64"))
    assert "the program ends after" in shown
    assert " rate" not in shown and "bound" not in shown
