"""Without a network, hosts end when they end in LogGOPSim."""

import os
import re
from pathlib import Path
from random import Random

import pytest
from mpi.machine.loggopsim import Peer, program, settings, text_of
from mpi.machine.ranks import transport
from mpi.machine.timedruns import played, random_case, referred

from mpinet.errors import UsageError
from mpinet.machine.timed.program import Program
from mpinet.programs.messages.goal import program_of

ORDERS = sorted(Path(__file__).with_name("orders").glob("*.goal"))

LOGGOPSIM = os.environ.get("MPINET_LOGGOPSIM")
"""LogGOPSim, built from its own source with std::stable_sort; its test needs the binary."""

LEAST = {"chain": 500, "dag": 500, "mix": 500, "rendezvous": 500, "lanes": 500, "wide": 500}
LEAST["ties"] = 497
"""Programs of 500 of each kind whose hosts all end at the same time in both. LogGOPSim decides ties
by the processor where a chain of steps of equal times began, mpinet by the step before the last.
"""


def ends(text: str | Program, options: dict) -> list[int] | None:
    """The hosts' ends by mpinet with LogGOPSim's options; None as LogGOPSim has it."""
    costs = {name: int(options[name]) for name in "ogGO"}
    costs["S"] = int(options.get("S", 10**9))
    setting = {"on": None, "mode": "cut", "hop": [1], "byte": [0], "flat": int(options["L"])}
    found = played(text, **setting, **costs, rendezvous="loggopsim")
    return None if found.get("stuck") or found["unmatched"] else found["ends"]


@pytest.mark.parametrize("path", ORDERS, ids=[path.stem for path in ORDERS])
def test_small_programs_end_as_in_loggopsim(path):
    text = path.read_text()
    said, known = re.search(r"^// LogGOPSim (.*): \[(.*)\]", text, re.MULTILINE).groups()
    options = dict(re.findall(r"-(\w) (\d+)", said))
    if path.stem == "rendezvous" and transport().size > 1:
        with pytest.raises(UsageError, match="runs on one rank, not on"):
            ends(text, options)
        return
    assert ends(text, options) == [int(end) for end in known.split(",")]


@pytest.mark.parametrize("number", range(16))
def test_requirement_lines_count_in_any_order_as_in_the_reference(number):
    text, setting = random_case(100 + number)
    blocks = []
    for block in text.split("}\n"):
        lines = block.splitlines()
        needs = [line for line in lines if "requires" in line]
        Random(number).shuffle(needs)
        blocks.append("\n".join([line for line in lines if line not in needs] + needs))
    text = "\n}\n".join(blocks)
    known = referred(text, **setting)
    found = played(text, ("blocks", "random")[number % 2], **setting)
    assert {name: found.get(name) for name in known} == known


if transport().size == 1:

    @pytest.mark.parametrize("number", range(24))
    def test_sends_that_end_at_their_match_take_the_time_of_the_reference(number):
        text, setting = random_case(number)
        setting |= {"S": 1, "rendezvous": "loggopsim"}
        known = referred(text, **setting)
        found = played(text, **setting)
        assert {name: found.get(name) for name in known} == known


if LOGGOPSIM and transport().size == 1:

    @pytest.mark.long
    @pytest.mark.parametrize("kind", LEAST)
    def test_loggopsim_ends_random_programs_at_the_same_time(kind, tmp_path):
        peer = Peer(Path(LOGGOPSIM), tmp_path)
        seed = compared = equal = 0
        while compared < 500:
            text, options = text_of(program(kind, seed)), settings(kind, seed)
            schedule = peer.converted(text)
            theirs = peer.ends(schedule, options)
            ours = [ends(each, options) for each in (text, program_of(schedule.read_bytes()))]
            # There are no ends of a program that is stuck, or leaves messages over, in both.
            if [theirs] * 2 != ours or theirs is not None:
                compared += 1
                equal += [theirs] * 2 == ours
            seed += 1
        assert equal >= LEAST[kind]
