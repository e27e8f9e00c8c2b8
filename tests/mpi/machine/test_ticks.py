"""Costs need not be whole: times are those of exact rational arithmetic, on any number of ranks."""

import json
from fractions import Fraction
from math import lcm
from pathlib import Path
from random import Random

import numpy as np
import pytest
from mpi.machine.ranks import shared_folder, transport
from mpi.machine.test_timed_recording import Noting
from mpi.machine.timed_reference import Flat, Routed, play, read_goal
from mpi.machine.timedruns import random_case

import mpinet
from mpinet.errors import TooLarge, UsageError
from mpinet.machine.timed.program import Builder
from mpinet.report.recordings import read_recording

RANDOM = range(16)

RATES = {
    **{f"{rate}GB/s": Fraction(1, rate) for rate in (46, 150, 300, 450, 600, 900)},
    "1.8TB/s": Fraction(1, 1800),
    "300Gbit/s": Fraction(2, 75),
}
"""Rates of NVLinks and others, in ns a byte."""

TIMES = {"0": Fraction(0), "2.5": Fraction(5, 2), "70ps": Fraction(7, 100), "7/3": Fraction(7, 3)}


def rational_case(number):
    """A random program, its setting in exact numbers, and the options that say so."""
    draw = Random(number)
    text, setting = random_case(number)
    byte = [draw.choice([*RATES]) for _ in setting["byte"]]
    hop = [draw.choice([*TIMES][1:]) for _ in setting["hop"]]
    names = {"o": "overhead", "O": "overhead_byte", "g": "gap", "G": "gap_byte"}
    said = {name: draw.choice([*(RATES if name in "OG" else TIMES)]) for name in names}
    every = RATES | TIMES
    exact = setting | {name: every[word] for name, word in said.items()}
    exact |= {"byte": [every[word] for word in byte], "hop": [every[word] for word in hop]}
    options = {names[name]: word for name, word in said.items()}
    options |= {"mode": setting["mode"], "eager": setting["S"]}
    if setting["on"]:
        options |= {"on": setting["on"], "latency": ",".join(hop), "time_byte": ",".join(byte)}
    else:
        exact["flat"] = Fraction(setting["flat"]) + Fraction(1, 7)
        options["flat"] = f"{7 * setting['flat'] + 1}/7"
    return text, exact, options


def reference(text, setting, kind=None):
    """The reference's machine in exact numbers, over."""
    on = setting["on"] and mpinet.open(setting["on"])
    network = Routed(on, setting["hop"], setting["byte"]) if on else Flat(setting["flat"])
    costs = {name: setting[name] for name in "ogGOS"}
    if kind is None:
        return play(text, network, setting["mode"], **costs)
    machine = kind(read_goal(text), network, setting["mode"], **costs)
    machine.crossings, machine.calls = [], []
    machine.run()
    return machine


def in_json(value):
    """The number that stands for an exact one in a document."""
    if isinstance(value, list):
        return [in_json(one) for one in value]
    return int(value) if value == int(value) else float(Fraction(value))


def ran(text, **options):
    """The result of the command, its program in a file that all ranks read."""
    with shared_folder() as folder:
        if transport().rank == 0:
            (folder / "program.goal").write_text(text)
        transport().sum(np.zeros(1))
        return mpinet.replay(folder / "program.goal", **options)


@pytest.mark.parametrize("number", RANDOM)
def test_times_are_those_of_exact_arithmetic(number):
    text, setting, options = rational_case(number)
    known = {name: in_json(value) for name, value in reference(text, setting).items()}
    found = ran(text, mapping=("blocks", "random")[number % 2], **options).value
    if "stuck" not in known:
        known |= {"stuck": 0, "first_stuck": []}
    assert {name: found[name] for name in known} == known
    assert list(map(type, found["ends"])) == list(map(type, known["ends"]))


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns", "ps", "fs"])
def test_every_rate_holds_in_every_unit(rate, unit):
    size, scale = 10**6, 10 ** (3 * ["fs", "ps", "ns", "us", "ms", "s"].index(unit))
    found = mpinet.replay(
        f"broadcast:linear,{size},processors=2", on="complete:2", latency="2ns", time_byte=rate,
        unit=unit,
    )  # fmt: skip
    exact = (2 + size * RATES[rate]) * 10**6 / scale
    assert found.time == in_json(exact) and type(found.time) is type(in_json(exact))


def test_all_costs_in_thirds_take_a_third_of_the_time_wherever_a_time_stands():
    program = "allreduce:ring,900,processors=9"
    costs = {"overhead": 4, "gap": 7, "gap_byte": 1, "latency": "30,50", "time_byte": 2}
    thirds = {
        name: ",".join(f"{cost}/3" for cost in str(given).split(","))
        for name, given in costs.items()
    }
    for options in (
        {"on": "torus:3x3", "why": True},
        {"on": "ring:9", "place": "search", "tries": 6},
        {"vary": ["on=ring:9", "on=torus:3x3"]},
    ):
        whole = mpinet.replay(program, **options, **costs).value
        third = mpinet.replay(program, **options, **thirds).value
        assert _same(whole, third, "")
    for collective in ("allreduce", "broadcast"):
        options = {"on": "mesh:2x3", "bytes": "60,6kB"}
        whole = mpinet.tune(collective, **options, **costs).value
        assert _same(whole, mpinet.tune(collective, **options, **thirds).value, "")


COUNTS = {
    *("messages", "hops", "most_bytes", "unmatched", "stuck", "first_stuck", "node", "port"),
    *("bytes", "processor", "operation", "line", "places", "count", "best"),
}


def _same(whole, third, name):
    """Whether two results are equal but for times, which are a third."""
    if isinstance(whole, dict):
        assert whole.keys() == third.keys()
        return all(_same(whole[key], third[key], key) for key in whole if key != "options")
    if isinstance(whole, list):
        return all(_same(*both, name) for both in zip(whole, third, strict=True))
    if isinstance(whole, str | None) or name in COUNTS:
        return whole == third
    if isinstance(whole, float):  # what 10 % less of a cost brings is a fraction by itself
        return third == pytest.approx(whole / 3, rel=1e-15)
    if name == "lower_bound":  # rounded up, to a whole unit and to a tick
        return whole / 3 - 1 < third <= whole / 3
    return third == in_json(Fraction(whole, 3))


def test_digests_tell_apart_what_no_float_does():
    program = Builder(2)
    for _ in range(32):
        program.calc(0, 1 << 48)
    program.send(0, 1, 1, after=[31])
    program.recv(1, 0, 1)
    thirds = [mpinet.replay(program.done(), flat=f"{n}/3", gap_byte=0) for n in (1, 2)]
    assert [one.time for one in thirds] == [float(1 << 53)] * 2
    assert thirds[0].digest != thirds[1].digest
    again = mpinet.replay(program.done(), flat="1000/3ps", gap_byte=0, unit="ns")
    assert again.digest == thirds[0].digest


def test_costs_and_runs_that_outgrow_the_ticks_are_refused_with_a_sentence():
    odd = "123.456789123457GB/s"  # 123,456,789,123,457 ticks make 1,000 ns
    message = "broadcast:linear,8,processors=2"
    with pytest.raises(UsageError, match=r"latency of class 0 \(1000\) is more than 2\^40 tick"):
        mpinet.replay(message, on="complete:2", latency="1us", time_byte=odd)
    computing = Builder(2)
    computing.calc(0, 1 << 48)
    with pytest.raises(
        TooLarge, match=r"a calc of 281474976710656 units is longer than 2\^60 tick"
    ):
        mpinet.replay(computing.done(), flat=1, overhead=1, gap_byte="1/12345")
    long = {"on": "complete:2", "latency": "1/4096", "time_byte": "1000"}
    with pytest.raises(
        TooLarge, match=r"of 281474976710656 bytes takes longer than 2\^60 ticks of"
    ):
        mpinet.replay(f"broadcast:linear,{1 << 48},processors=2", **long)
    several = Builder(2)
    for _ in range(9):
        several.send(0, 1, 1 << 47)
    with pytest.raises(TooLarge, match=r"^The run takes longer than 2\^60 ticks of 1/1024 unit"):
        mpinet.replay(several.done(), on="complete:2", latency="1/1024", time_byte="1")


@pytest.mark.parametrize(("each", "ring"), [(127, "ring:3"), (30, "ring:3"), (14, "ring:5")])
def test_waiting_times_that_together_outgrow_64_bits_are_refused(each, ring):
    # Each message keeps its link for 2^53, so that n of them wait for n (n - 1) / 2 times as long.
    count = int(ring[5:])
    program = Builder(count)
    for node in range(count):
        for _ in range(each):
            program.send(node, (node + 1) % count, 1 << 13)
            program.recv((node + 1) % count, node, 1 << 13)
    waits = count * (each * (each - 1) // 2) << 53
    options = {"on": ring, "time_byte": 1 << 40}
    if waits < 1 << 62:
        assert mpinet.replay(program.done(), **options).waits == waits
        return
    with pytest.raises(TooLarge, match=r"takes longer than 2\^60 units"):
        mpinet.replay(program.done(), **options)


def test_a_recording_in_ticks_is_exact_and_its_trace_is_exact_to_the_femtosecond(tmp_path):
    text, setting, options = rational_case(4)
    machine = reference(text, setting, Noting)
    with shared_folder() as folder:
        ran(text, record=folder / "run.npz", **options)
        transport().sum(np.zeros(1))
        if transport().rank:
            return
        found = read_recording(Path(folder / "run.npz"))
        mpinet.trace(folder / "run.npz", output=tmp_path / "run.json")
    costs = [setting[name] for name in "oOgG"] + (
        [*setting["hop"], *setting["byte"]] if setting["on"] else [setting["flat"]]
    )
    ticks = lcm(*(Fraction(cost).denominator for cost in costs))
    assert found.header["ticks"] == ticks > 1 and found.header["unit"] == "ns"
    columns = ("call_end", "call_processor", "call_begin", "call_site")
    calls = sorted(
        (Fraction(end, ticks), processor, Fraction(begin, ticks), name)
        for end, processor, begin, site in zip(
            *(found.calls[name].tolist() for name in columns), strict=True
        )
        if not (name := found.header["sites"][site][0]).startswith("NIC")
    )
    assert calls == sorted(machine.calls)
    events = json.loads((tmp_path / "run.json").read_text())["traceEvents"]
    begins = sorted(e["ts"] for e in events if e.get("cat") == "call" and "NIC" not in e["name"])
    known = sorted(begin / 1000 for _, _, begin, _ in machine.calls)
    assert begins == pytest.approx([float(one) for one in known], abs=1e-9)
