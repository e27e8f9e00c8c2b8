"""Random programs of MPI calls, which write what their calls leave: the same under every MPI.

``program.py FOLDER FIRST COUNT [--operations N] [--rooms NAME,..] [--plant RANK PLACE]``: the
programs with these seeds. Rank R of seed S writes to ``FOLDER/S.R``, a line for each result, and
prints a checksum. With ``--plant`` one rank writes a different line at one place of each program.
"""

import argparse
import zlib
from pathlib import Path
from random import Random

import beside
import members
import memory
import messages
import together
from drawing import Program
from mpi4py import MPI

ROOMS = {
    "messages": [
        messages.arrays,
        messages.arrays,
        messages.layouts,
        messages.layouts,
        messages.layouts,
        messages.replaced,
        messages.short,
        messages.truncated,
        messages.objects,
        messages.probed,
        messages.gathered_from_any,
        messages.out_of_order,
        messages.nowhere,
        messages.persistent,
        messages.partitioned,
        messages.packed,
        messages.wrong,
    ],
    "together": [
        together.from_root,
        together.to_root,
        together.to_all,
        together.unequal,
        together.unequal_to_all,
        together.layouts,
        together.layouts,
        together.reductions,
        together.reductions,
        together.pieces,
        together.own_operators,
        together.places,
        together.objects,
        together.several_begun,
    ],
    "members": [
        members.split,
        members.duplicated,
        members.groups,
        members.grid,
        members.graph,
        members.two_groups,
        members.attributes,
    ],
    "windows": [
        memory.fences,
        memory.layouts,
        memory.locks,
        memory.exchanged,
        memory.posted,
        memory.shared,
    ],
    "files": [memory.blocks, memory.views, memory.layouts_in_files, memory.by_rank],
    "threads": [beside.threads, beside.tagged],
}
"""Operations by what they use."""


def run(seed: int, options: argparse.Namespace) -> None:
    """Run one program."""
    rooms = options.rooms.split(",")
    order = Random(seed)
    path = Path(options.folder, f"{seed}.{MPI.COMM_WORLD.Get_rank()}")
    with path.open("w") as log:
        program = Program(seed, log, options.folder, options.plant and tuple(options.plant))
        for place in range(options.operations):
            operation = order.choice(ROOMS[order.choice(rooms)])
            program.begin(place, f"{operation.__module__}.{operation.__name__}")
            operation(program)
            # A receive from any rank must not get a message of the next operation.
            program.comm.Barrier()
        program.comm.Free()
        log.write("end\n")
    print(seed, program.rank, zlib.crc32(path.read_bytes()), flush=True)


def main() -> None:
    """Run the programs of the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--operations", type=int, default=20)
    parser.add_argument("--rooms", default=",".join(ROOMS))
    parser.add_argument("--plant", type=int, nargs=2)
    options = parser.parse_args()
    for seed in range(options.first, options.first + options.count):
        run(seed, options)


main()
