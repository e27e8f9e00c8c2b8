"""Files that command lines of tests name: right ones and wrong ones, of all kinds."""

FILES = {
    "own.py": """
def nothing(node):
    yield node.idle(0)

def greeting(node, word="hello", port=0):
    yield node.send(node.ports[port % len(node.ports)], word)
    return node.id

def routed(node):
    yield node.route((node.id + 1) % node.size, node.id)
    return (yield node.receive(node.ROUTED))

def waits(node):
    yield node.receive()

def odd(node):
    yield node.idle(1.5)

def wrong(node):
    yield node.send(99, 1)

plain = 3
""",
    "script.py": """
import sys
from mpi4py import MPI

comm = MPI.COMM_WORLD
total = comm.allreduce(comm.rank + len(sys.argv))
if comm.rank == 0:
    print(total)
""",
    "waits.py": """
from mpi4py import MPI

if __name__ == "__main__":  # a script; who imports it would wait in the real MPI
    MPI.COMM_WORLD.recv()
""",
    "claims.py": """
from mpinet import measure
from mpinet.claims import claim, over

@claim("OWN-1", statement="two", claimed=2, grid=over("ring:{n}", n=range(3, 6)))
def degree(topology):
    return max(measure.degrees(topology))
""",
    "wrong.py": "def degree(:\n",
    "pairs.csv": "source,target\n0,1\n1,2\n2,0\n",
    "words.csv": "source,target\n0,nowhere\n",
    "dead.txt": "node:1\nlink:2-3\n",
    "two.edges": "0 1\n1 2\n2 0\n2 3\n",
    "four.csv": """# mpinet-schedule 1
# network: "ring:4"
# collective: "gossip"
# processors: 4
# chunks: 1
# ports: "all"
step,from,to,chunk
1,0,1,0
1,1,2,1
1,2,3,2
1,3,0,3
2,0,1,3
2,1,2,0
2,2,3,1
2,3,0,2
3,0,1,2
3,1,2,3
3,2,3,0
3,3,0,1
""",
    "four.goal": """num_ranks 4

rank 0 {
s0: send 8b to 1 tag 0
}

rank 1 {
r0: recv 8b from 0 tag 0
s1: send 8b to 2 tag 1
s1 requires r0
}

rank 2 {
r1: recv 8b from 1 tag 1
}

rank 3 {
}
""",
    "steps.json": """{"mpinet": "certificate 1", "kind": "distance",
"claim": {"collective": "broadcast", "root": 0, "ports": "one", "more_than": 1},
"network": "ring:4",
"edges_sha256": "3c76615e05a57eee33b0edcbe27342847a4d5c8e6b98a80d3639102612d4b4d7"}
""",
    "links.json": """{"mpinet": "certificate 1", "kind": "eigenvalue",
"claim": {"measure": "bisection", "more_than": 1},
"network": "ring:4",
"edges_sha256": "3c76615e05a57eee33b0edcbe27342847a4d5c8e6b98a80d3639102612d4b4d7",
"side": [1, 2], "at_least": [3, 2]}
""",
    "floods.toml": """command = "flood"
topology = ["ring:8", "torus:3x4"]
root = { range = [0, 3] }
""",
    "curves.jsonl": """{"topology": "a", "rate": 0.1, "latency": 1.5, "seed": 0}
{"topology": "a", "rate": 0.1, "latency": 2.5, "seed": 1}
{"topology": "b", "rate": 0.1, "latency": 2.0, "seed": 0}
{"topology": "b", "rate": 0.2, "latency": 4.0, "seed": 0}
""",
    "moves.csv": """# {"format": "mpinet recording", "version": 1, "mpinet": "0.1.0", \
"command": "flood", "topology": "ring:3", "nodes": 3, "hosts": 3, "ports": 2, \
"model": {"ports": "all", "duplex": "full"}, "seed": 0, "steps": 1, \
"recorded": {"steps": null, "nodes": null}, "moves": 2, "calls": 0, "sites": []}
step,sender,port,receiver,message
1,0,0,1,-1
1,0,1,2,-1
""",
    "journal/rank-0.jsonl": '{"version": "v", "key": ["a", ""], "find',
}
"""The folder in which command lines are run has these files."""
