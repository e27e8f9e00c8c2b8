"""Documents name the unit of their times."""

from fractions import Fraction

import pytest

import mpinet
from mpinet.machine.timed.program import Builder

SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9, "ps": 10**12, "fs": 10**15}
"""Units in a second."""

EXCHANGE = "allreduce:ring,12B,processors=3"


def one_message():
    builder = Builder(2)
    builder.send(0, 1, 1)
    builder.recv(1, 0, 1)
    return builder.done()


@pytest.mark.parametrize("unit", [None, "us", "ns", "ps"])
def test_a_message_takes_its_latency_in_the_unit_of_the_document(unit):
    # LogGOPS: a message of one byte takes L + 2 o, and o is 0 here.
    document = mpinet.replay(one_message(), flat="3us", gap_byte=0, unit=unit).document()
    assert document["unit"] == (unit or "ns")
    assert Fraction(document["result"]["time"], SECOND[document["unit"]]) == Fraction(3, 10**6)


def test_a_machine_gives_the_unit():
    document = mpinet.replay(one_message(), on="ring:3", machine="slingshot").document()
    given = mpinet.replay(one_message(), on="ring:3", machine="slingshot", unit="fs").document()
    assert given["unit"] == "fs"
    first, second = (
        Fraction(one["result"]["time"]) / SECOND[one["unit"]] for one in (document, given)
    )
    assert first == second


@pytest.mark.parametrize(
    "run",
    [
        lambda unit: mpinet.replay(
            EXCHANGE, time_byte=1, vary=["on=ring:3", "on=ring:4"], unit=unit
        ),
        lambda unit: mpinet.tune("allreduce", on="ring:3", time_byte=1, bytes="12B", unit=unit),
        lambda unit: mpinet.pareto("gossip", "ring:3", chunks=1, alpha=5, beta=1, unit=unit),
    ],
    ids=["settings", "tune", "pareto"],
)
def test_other_commands_that_take_time_name_it(run):
    assert run("us").document()["unit"] == "us"


def test_counted_steps_have_no_unit():
    assert "unit" not in mpinet.pareto("gossip", "ring:3", chunks=1).document()
    assert "unit" not in mpinet.broadcast("ring:4").document()
