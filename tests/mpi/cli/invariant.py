"""The commands whose results no number of ranks, no mapping and no host changes.

As a program it is a rank of a job that runs them all, and rank 0 writes their digests.
"""

import json
import sys
from pathlib import Path

from mpinet.cli.commands import parse
from mpinet.cli.help import examples
from mpinet.commands import function_of
from mpinet.commands.algorithms import COLLECTIVES
from mpinet.jobs import module_of
from mpinet.machine.transport import Local, world
from mpinet.report.envelope import digest

GOAL = Path(__file__).parent / "scripts/exchange.goal"

MAPPED = [
    f"replay {GOAL} --on torus:3x3 --latency 30,50 --time-byte 2 --overhead 5 --gap 3 --eager 64",
    f"replay {GOAL} --on ring:9 --mode store --duplex half --time-byte 1 --latency 20 --why",
    f"replay {GOAL} --machine cs2 --overhead 1500",
    "replay allreduce:double-tree,90,segment=30 --on ring:9 --time-byte 2 --place search --tries 8",
    f"replay {GOAL} --time-byte 0 --vary on=ring:9 --vary on=torus:3x3 --vary place=random "
    "--vary mode=store",
    f"replay {GOAL} --on torus:3x3 --latency 2.5,7/3 --time-byte 300GB/s,46GB/s --gap-byte 900GB/s "
    "--eager 64 --why",
    "tune allreduce --on ring:6 --bytes 60,6kB --time-byte 1.8TB/s --overhead 0.7",
    "pareto gossip dgx1 --chunks 1 --alpha 700ns --beta 450GB/s --unit us --bytes 60",
    "tune allreduce --on mesh:3x2 --bytes 60,6kB --place random --seed 3 --time-byte 1",
    "pareto allreduce ring:6 --chunks 2 --alpha 2 --beta 1 --bytes 60",
    "show ccc:4 --distances",
    "show fattree:3,2 --distances",
    "show mesh:23x31 --sample 70 --exact",
    "show torus:23x31 --sample 9",
    "show debruijn:10 --sample 20 --seed 3",
    "flood debruijn:6 --root 5",
    "broadcast torus:5x4x3 --root 7 --schedule",
    "broadcast fattree:2,3 --schedule",
    "broadcast ccc:4 --schedule --algorithm tree",
    "route hypercube:6 --pairs all --mode ideal --paths",
    "route hypercube:6 --pairs all",
    "route torus:6x7 --pairs random:300 --seed 5 --ports one",
    "route torus:6x7 --pairs random:300 --policy fifo",
    "route ring:12*mesh:2x3 --pairs permutation --duplex half",
    "route fattree:2,4 --pairs permutation --ports one --policy fifo",
    "route debruijn:6 --pairs transpose --paths",
    "route hypercube:6 --pairs hotspot:9 --faults node:3,link:0-1",
    "load torus:4x4 --rate 0.2 --flits 3 --warmup 20 --steps 60",
    "load torus:3x3,hosts=2 --routing valiant --rate 0.2 --warmup 20 --steps 60",
    "load dragonfly:1,2,2 --routing ugal-g,par --rate 0.3 --warmup 20 --steps 60",
    "load torus:3x3 --pattern adversarial,mix:nearby@0.3+uniform,groups:tornado@3+uniform --rate 1",
    "load hyperx:3x3,hosts=2 --routing dimwar --rate 0.3 --warmup 20 --steps 60",
    "load hypercube:4 --rate 0.1,0.6 --buffers 0 --switching vct --policy fifo --steps 60",
    "load debruijn:4 ring:5 --rate 0.3 --classes hops --vcs 4 --warmup 20 --steps 60 --limit 99",
    "load torus:3x3 ring:5 --pattern uniform,tornado --seeds 2 --rate 0.2 --warmup 20 --steps 40",
    "load torus:3x3 --rate 0.1 --warmup auto --until 10% --saturation 0.2 --seeds 2..3 --steps 60",
    "load torus:4x4 --program allreduce:ring,64 --place random --intervals 20",
    "load torus:3x3 --rate 0.4 --replies 3 --service 2 --outstanding 1 --warmup 9 --steps 40",
    "load torus:3x3 --rate 0.5,1 --replies 2 --batch 3 --phases 2 --flits 1:0.5,4:0.5",
    "load ring:5 --pattern permutation --seeds 2 --warmup 9 --steps 30 --limit 30",
    "load torus:3x3 --rate 0.05 --batch 9 --steps 20 --limit 0",
    "load torus:3x3 ring:5 --routing parity,valiant --vcs 4,8 --flits 1,2 --rate 0.1 --steps 30",
    "gossip torus:3x5 --seed 4",
    "allreduce torus:4x4 --group 4x4 --faults node:5 --items 2",
    "broadcast clens:3,3 --group 5,0-3 --faults node:9",
    "gossip fattree:2,3",
    "gossip hdn:2x3,super=0.1/0.1",
    "gossip pancake:4 --ports all --algorithm translations",
    "gossip ccc:3 --seed 2",
    "gossip ring:3*mesh:3x3 --ports all",
    "gossip hypercube:3 --algorithm routed --duplex half",
    "gossip shuffleexchange:4 --algorithm matching",
    "gossip petersen --items 3 --ports all",
    "gossip lens:2,3,3 --algorithm matching",
    "gather clens:3,2 --algorithm flow --root 3",
    "allreduce clens:3,2 --items 4 --ports all",
    "broadcast torus:4x4 --items 9 --ports all --root 5",
    "broadcast fattree:2,3 --items 4",
    "reduce fattree:2,3 --root 3",
    "reduce fattree:2,3 --switches combine",
    "allreduce fattree:2,2 --items 2 --ports all",
    "reduce debruijn:4 --items 5 --operator sum",
    "allreduce torus:3x4 --items 12 --operator max",
    "allreduce hypercube:3 --items 2 --ports all",
    "allreduce torus:4x4 --operator sum",
    "reducescatter petersen --items 2 --ports all --operator sum",
    "scatter ccc:3 --root 5",
    "scatter lens:2,2,3 --ports all",
    "gather mesh:3x4 --root 7 --ports all",
    "exchange debruijn:4",
    "exchange hypercube:3 --algorithm farthest",
    "ascend hypercube:7 --operator prefix",
    "ascend hypercube:6 --operator fft --ports one",
    "descend ring:16 --operator bitonic-sort",
    "descend bsn:1,2,5 --operator fft",
    "ascend clens:3,4 --operator prefix",
    "descend clens:3,4 --operator bitonic-sort --ports one",
    "ascend clens:3,4 --operator prefix --algorithm instances",
    "descend clens:5,2 --operator fft --algorithm mirrored",
    "ascend lens:3,3,4 --operator prefix",
    "descend torus:4x4 --operator bitonic-sort --algorithm routed",
    "ascend bsn:2,2,5 --operator prefix --algorithm unaligned --ports one",
    "circulate gbsn:2,m=4-4-4-4,a=1 --dimensions 3",
    "reduce gbsn:2,m=4-4-4-3-7,a=1 --root 9 --operator sum",
    "reduce lens:3,3,2 --ports all --operator max",
    "ascend shuffleexchange:5 --operator transpose:8x4 --ports one",
    "descend debruijn:5 --operator fft --ports one",
    "ascend ccc:4 --operator shift:-5",
    "descend gmn:128 --operator odd-even-merge --ports one",
    "ascend gmn:32 --operator prefix",
    "ascend gmn:32 --operator odd-even-merge --down",
    "show gbsn:1,m=4-4-4-2,a=1 --distances",
    "route bsn:1,2,6 --pairs random:200",
    "route gbsn:2,m=4-4-4-3-7,a=1 --pairs all --ports one",
    "route gmn:6,96 --pairs random:200 --paths",
    "route gmn:6,96 --pairs random:200 --routing online --faults node:40",
    "route gmn:6,96 --pairs random:200 --routing discovered --faults node:40,node:77",
    "route gmn:6,96 --pairs random:200 --routing substituted --faults node:40,node:77",
    "route gmnany:100 --pairs random:200 --faults node:40,link:3-4",
    "broadcast gmn:6,96 --root 5 --schedule",
    "ascend gmnany:30 --operator fft --ports one",
    "ascend gbsn:1,m=4-4-4-2,a=1 --operator min --algorithm unaligned --ports one",
    "descend gbsn:1,m=4-4-4-2,a=1 --operator fft",
    "circulate gbsn:1,m=4-4-4-2,a=1",
    "route gbsn:1,m=4-4-4-2,a=1 --pairs all --routing twsr",
    "route gbsn:1,m=4-4-4-2,a=1 --pairs all --routing twsr-corrected",
    "ascend gbsn:2,m=3-5-4-4,a=1 --operator prefix --change 2:gbsn:2,m=4-4-4-4,a=1",
    "route gmnany:100 --pairs permutation --policy fifo",
    "show hdn:2x3,super=0/1 --distances",
    "route hdn:2x3x5,super=0.1 --pairs random:300 --paths",
    "route hdn:2x3,super=0 --pairs all --faults node:3,link:0-1 --ports one",
    "route clens:3,3 --pairs all --faults bus:3,node:7 --arbitration roundrobin",
    "route lens:3,3,3 --pairs random:200 --arbitration token --ports one",
    "route clens:3,3 --pairs random:100 --arbitration backoff --policy fifo",
    "broadcast hdn:2x3,super=0 --to 7,20-25",
    "broadcast sth:2,3 --parts lst --root 3",
    "ascend sth:3,3 --operator fft --parts tq",
    "flood sth:2,3 --faults node:3,link:0-1",
    "route hdn:2x2,super=0/0.1 --pairs random:300 --routing landing",
    "broadcast hdn:2x3,super=-/1 --root 5 --schedule",
    "show clens:3,3 --distances",
    "flood lens:3,4,3 --root 2",
    "route clens:3,3 --pairs all --paths",
    "route lens:3,3,3 --pairs permutation --ports one --policy fifo",
    "route clens:4,2 --pairs random:100 --routing stateless",
    "route sth:2,3 --pairs permutation --ports one",
    "route sth:3,3,cq --pairs random:200 --routing optimal",
    "broadcast sth:2,3 --root 9 --schedule",
    "route hexcell:3 --pairs all --mode ideal",
    "route arrangement:4,2 --pairs all",
    "run mpinet.examples.flood:flood --on torus:4x3",
    "run mpinet.examples.oddeven:odd_even_sort --on ring:7 --ports one",
    "embed bsn:2,2,4 gbsn:2,m=4-4-4-3-7,a=1 --ports one",
    "embed hypercube:4 torus:5x4 --program ascend --operator fft",
    # Every collective by the first example of its docstring, so that a new one is among them.
    *(examples(function_of(name).__doc__ or "")[0].removeprefix("mpinet ") for name in COLLECTIVES),
]

UNMAPPED = [
    "topologies",
    "show circulant:20,jumps=1-4",
    "check moebius:5",
    "neighbors chordalring:14,3 6",
    "path ccc:3 1 17",
    "show chordalring:14,3 --node 6",
    "route ccc:3 1 17",
    "compare torus:4x4 fattree:2,3 --only degree,diameter,average_distance,broadcast,gossip",
    "compare torus:4x4 torus:16x16 --only connectivity,exchange --effort 0.03",
    "find --processors 12..16 --families torus,debruijn,doubleloop --best 5",
    "find --search --processors 20 --degree 5 --moves 300 --seed 2 --best 3",
    "measure debruijn:4 diameter",
    "reproduce lens figure-2 --budget quick",
]


def outcome(command: str, transport: Local) -> str:
    """The digest of a command's result, run in this process."""
    options = parse(command.split())
    job = module_of(options.command).prepare(options)
    return digest(job.run(transport, lambda *done: None))


def main() -> None:
    """Write every command's digest as JSON, on as many ranks as the argument says."""
    transport = world()
    assert transport.size == int(sys.argv[1]), transport.size
    found = {command: outcome(command, transport) for command in [*MAPPED, *UNMAPPED]}
    if transport.rank == 0:
        json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
