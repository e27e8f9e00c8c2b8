"""Scripts that processors play in tests, and what they say."""

import ast
import io
from textwrap import dedent

from mpi.machine.ranks import everyone, mapping_of, transport

import mpinet
from mpinet.mpi.script import ScriptOptions, run_script

PRELUDE = """
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size

def say(value):
    print((rank, value))
"""


def played(folder, network, script, ports="all", mapping="blocks", where=None, **options):
    """What each processor says, in its order, and the run's outcome."""
    file, out = folder / "script.py", io.StringIO()
    file.write_text(PRELUDE + dedent(script))
    topology = mpinet.open(network)
    machine = mpinet.Machine(topology, ports, where or transport(), mapping_of(topology, mapping))
    outcome = run_script(machine, file, ScriptOptions(out=out, **options))
    told = out.getvalue() if where else everyone(out.getvalue())[0]
    said = {number: [] for number in range(outcome.processors)}
    for number, value in map(ast.literal_eval, told.splitlines()):
        said[number].append(value)
    return said, outcome
