"""The files that the folder of every command line has."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
from inputfiles import FILES

OWN = {
    "talk.py": """
from mpi4py import MPI

comm = MPI.COMM_WORLD
me, n = comm.rank, comm.size
if me == 0:
    found = [comm.recv() for _ in range(1, n)]
    print(sorted(found))
else:
    comm.send(me * me, dest=0)
comm.Barrier()
print(me, comm.allgather(me), flush=True)
""",
    "first.py": """
from mpi4py import MPI

comm = MPI.COMM_WORLD
if comm.rank:
    comm.send(comm.rank, dest=0)
else:
    print([comm.recv(source=MPI.ANY_SOURCE) for _ in range(1, comm.size)])
""",
    "raises.py": """
from mpi4py import MPI

if MPI.COMM_WORLD.rank == 1:
    raise ValueError("one is wrong")
MPI.COMM_WORLD.barrier()
""",
    "leaves.py": """
import sys
from mpi4py import MPI

MPI.COMM_WORLD.send(b"not received", dest=0)
sys.exit(3)
""",
    "spawns.py": """
import sys
from mpi4py import MPI

CHILD = "from mpi4py import MPI; MPI.Comm.Get_parent().send(MPI.COMM_WORLD.rank, dest=0)"
if MPI.COMM_WORLD.rank == 0:
    children = MPI.COMM_SELF.Spawn(sys.executable, ["-c", CHILD], maxprocs=2)
    print(sorted(children.recv() for _ in range(2)))
""",
    "stopping.py": """
import os
import signal
from pathlib import Path

import numpy as np
from mpinet.programs.operators import Operator


class Stopping(Operator):
    \"\"\"The least element; the command gets a signal in the second dimension, once.\"\"\"

    name = "stopping"

    def oper(self, j, i, low, high):
        if j == 1 and not Path("stopped").exists():
            Path("stopped").touch()
            os.kill(os.getpid(), signal.SIGUSR1)
        both = np.minimum(low, high)
        return both, both

    def expected(self, values):
        return np.full_like(values, values.min())


class Wrong(Operator):
    \"\"\"An operator with an error.\"\"\"

    name = "wrong"

    def oper(self, j, i, low, high):
        return low / nothing, high
""",
    "wheel.py": """
from mpinet import Topology, rule


class Wheel(Topology):
    \"\"\"A hub and a rim.\"\"\"

    def __init__(self, n: int):
        super().__init__(f"{n}", size=n + 1, ports=n)

    @rule
    def neighbor(node, port, params):
        n = params[0] - 1
        if node == 0:
            return port + 1
        if port > 2:
            return -1
        return 0 if port == 0 else (node + 2 - 2 * port + n) % n + 1


class OneWay(Topology):
    \"\"\"A ring without a way back.\"\"\"

    def __init__(self, n: int):
        super().__init__(f"{n}", size=n, ports=1)

    @rule
    def neighbor(node, port, params):
        return (node + 1) % params[0]
""",
    "rings.py": """
from mpinet.claims import claim, over
from mpinet.measure import connectivity, diameter

RINGS = over(n=range(3, 12)).quick(lambda n: n < 6)


@claim("RING-D", statement="half the size", claimed=lambda n: (n + 1) // 2, grid=RINGS)
def ring_diameter(n):
    return diameter(f"ring:{n}")


@claim("RING-K", statement="one fault never cuts it", relation=">", claimed=1, grid=RINGS)
def ring_connectivity(n):
    return connectivity(f"ring:{n}")
""",
    "second.py": """
import json
import sys

values = {f"n={n}": n // 2 for n in range(3, 6)}
json.dump({"RING-D": {"verdict": "refuted", "values": values}}, sys.stdout)
""",
    "clockwise.csv": "node,destination,next\n"
    + "".join(f"{u},{v},{(u + 1) % 4}\n" for u in range(4) for v in range(4) if u != v),
    "cables.csv": "node,x,y\n0,0,0\n1,3,0\n2,0,5\n3,3,5\n",
    "trace.csv": "step,source,target,flits\n0,0,1,2\n1,2,3,1\n5,3,0,4\n",
    "reversed.txt": "3\n2\n1\n0\n",
    "hosts.txt": "localhost slots=2\n",
    "routes.toml": """command = "route"
topology = ["ring:8", "hypercube:3"]
pairs = ["transpose", "random:20"]
ports = "one"
seed = { range = [0, 2] }

[plot]
x = "topology"
y = "steps"
by = "pairs"
error = "seed"
output = "steps.svg"
""",
    "loads.json": """{"command": "load", "topology": ["ring:4", "mesh:2x2"], "warmup": "10",
"steps": 30, "rate": {"linear": [0.1, 0.3, 2]}}
""",
    "broadcasts.toml": """command = "broadcast"
topology = ["torus:3x3", "petersen"]
schedule = true

[[part]]
ports = "one"

[[part]]
ports = "all"
items = [1, 4]
""",
    "replays.toml": """command = "replay"
program = "allreduce:ring,100"
on = ["ring:4", "torus:2x2"]
latency = [5, 50]
""",
    "misspelt.toml": 'command = "flood"\ntopology = "ring:8"\nroots = 1\n',
    "wrongvalue.toml": 'command = "flood"\ntopology = "ring:8"\nports = "two"\n',
    "wrongtype.toml": 'command = "flood"\ntopology = "ring:8"\nroot = 1.5\n',
    "norun.toml": 'command = "play"\nfile = "moves.csv"\n',
    "syntax.toml": "command = \n",
    "failing.toml": 'command = "flood"\ntopology = "ring:8"\nroot = [0, 99]\n',
}
"""Files of this comparison alone."""


def write(folder: Path) -> None:
    """Write all files into a new folder."""
    for name, text in {**FILES, **OWN}.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
