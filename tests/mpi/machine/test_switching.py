"""Without contention, ideal and cut-through runs take one time, store-and-forward no less."""

import pytest
from mpi.machine.timed_reference import Answer, Machine, Message, Routed, read_goal
from mpi.machine.timedruns import played, sparse_case

import mpinet

MODES = ("ideal", "cut", "store")


class Watching(Machine):
    """The reference; it notes whether any CPU, NIC or link has two requests at once."""

    def __init__(self, *args, **costs):
        super().__init__(*args, **costs)
        self.is_contended = False

    def step(self, time, key, p, thing):
        if isinstance(thing, Message):
            self.is_contended |= time > thing.received
        elif not isinstance(thing, Answer):
            self.is_contended |= time > self.programs[p][thing].released
        super().step(time, key, p, thing)

    def receive(self, time, key, p, message):
        self.is_contended |= time < self.in_free[p]
        message.received = max(message.last, time + (message.size - 1) * self.G)
        super().receive(time, key, p, message)

    def cross(self, ready, message, i):
        self.is_contended |= ready < self.link_free.get(message.path[i][0], 0)
        super().cross(ready, message, i)


def is_contended(text, setting):
    """Whether two requests meet in any mode of switching."""
    network = Routed(mpinet.open(setting["on"]), setting["hop"], setting["byte"])
    costs = {name: setting[name] for name in "ogGOS"}
    machines = [Watching(read_goal(text), network, mode, **costs) for mode in MODES]
    for machine in machines:
        machine.run()
    return any(machine.is_contended for machine in machines)


FREE = [number for number in range(400) if not is_contended(*sparse_case(number))]
"""Random programs without contention."""


def test_many_random_programs_have_no_contention():
    assert len(FREE) >= 40


@pytest.mark.parametrize("number", FREE[:40])
def test_processors_end_no_later_if_messages_are_passed_on_earlier(number):
    text, setting = sparse_case(number)
    ideal, cut, store = (played(text, **setting | {"mode": mode})["ends"] for mode in MODES)
    assert ideal == cut
    assert all(one <= other for one, other in zip(cut, store, strict=True))


@pytest.mark.parametrize("mode", MODES)
def test_computation_overlaps_a_message_that_is_still_in_flight(mode):
    # The message of 10,000 bytes arrives at 10 + 10,000 + 50, and the receiver takes 10 more. Both
    # calcs together take 5,300.
    text = "num_ranks 2\nrank 0 {\ns: send 10000b to 1\n}\nrank 1 {\nr: recv 10000b from 0\n"
    text += "a: calc 300\nb: calc 5000\nb requires a\n}\n"
    costs = {"o": 10, "O": 0, "g": 0, "G": 0, "S": None, "flat": 0, "hop": [50], "byte": [1]}
    assert played(text, on="ring:3", mode=mode, **costs)["ends"][:2] == [10, 10070]
