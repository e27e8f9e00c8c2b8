"""Programs of passes whose literal counterpart is a loop over pairs, and machines to run them."""

import numpy as np

from mpinet.machine import Machine
from mpinet.machine.placement import scattered
from mpinet.programs.operators import Operator, Pass

MODULUS = 65537
KINDS = ("ascend", "descend")
PORTS = ("all", "one")


class Tangle(Operator):
    """Passes (kind, low, high) in which every pair, order and dimension counts."""

    name = "tangle"

    def __init__(self, *ranges):
        self.ranges = ranges
        self.known = {}

    def passes(self, kind, q):
        return [Pass(kind, low, high, self.oper) for kind, low, high in self.ranges]

    def oper(self, j, i, low, high):
        return (3 * low + 5 * high + i * j) % MODULUS, (7 * low - high * i + j + 1) % MODULUS

    def expected(self, values):
        key = values.tobytes()
        if key not in self.known:
            self.known[key] = self.by_definition(values)
        return self.known[key]

    def by_definition(self, values):
        a = [int(value) for value in values]
        for kind, low, high in self.ranges:
            upwards = range(low, high)
            for j in upwards if kind == "ascend" else reversed(upwards):
                for i in range(len(a)):
                    if not i >> j & 1:
                        a[i], a[i + 2**j] = self.oper(j, i, a[i], a[i + 2**j])
        return np.array(a)


def mixed_program(q):
    """Passes of both kinds over all and some dimensions."""
    return ("ascend", 1, q), ("descend", 0, q - 1), ("descend", q - 1, q), ("ascend", 0, min(2, q))


def machine_for(transport, network, ports="all", seed=None):
    """A machine of blocks, or, with a seed, of processors that are scattered over the ranks."""
    machine = Machine(network, ports, transport)
    if seed is None:
        return machine
    return Machine(machine.topology, ports, transport, scattered(machine.topology, seed))
