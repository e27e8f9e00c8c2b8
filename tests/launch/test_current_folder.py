"""Modules of the current folder are never loaded, however they are called, in any process."""

import json
import os
import shlex
import subprocess
import sys
import sysconfig
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from launch.conftest import CHECKOUT, TIME_LIMIT, own_mpirun

from mpinet.commands.catalogue import GROUPS, UNLISTED

COMMANDS = """
show torus:4x4 --distances
topologies
draw ring:8 -o ring.svg
compare ring:4 mesh:2x2 --only degree,diameter
find --processors 12..16 --families torus --best 2
measure ring:8 bisection
check ring:8
route ring:8 --pairs all
load ring:4 --rate 0.1 --warmup 5 --steps 20
replay allreduce:ring,1kB,processors=4 --on ring:4 --time-byte 1
tune allreduce --on ring:4 --bytes 60 --time-byte 1
flood ring:8
broadcast ring:8 --record told.npz
gossip ring:4
scatter ring:4
gather ring:4
exchange ring:4
reduce ring:4
allreduce ring:4
reducescatter ring:4
ascend hypercube:3 --operator prefix
descend hypercube:3 --operator fft
circulate gbsn:2,m=4-4-4-4,a=1 --dimensions 3
embed ring:4 torus:2x4
run mpinet.examples.flood:flood --on ring:4
optimum broadcast lens:2,3,3 --limit 10
optimum gossip ring:6 --save gossip.json
pareto allreduce ring:6 --chunks 2 --alpha 2 --beta 1 --bytes 60
certify gossip.json
schedule export gossip ring:4 --out gossip.csv
schedule run gossip.csv --on ring:4
schedule check gossip.csv --on ring:4
schedule generate allreduce:ring,1kB,processors=4 --out ring.goal
verify GBSN-S2-bsn-size
reproduce lens figure-2 --budget quick
sweep plan.json --out runs
plot runs --x size --y steps -o steps.svg
play told.npz -o told.html
trace told.npz -o trace.json
resume saved
template slurm
doctor
demo -n 2
predict flood ring:8 --ranks 2
bench start-help --size small --repeat 1
neighbors ring:8 3
path ring:8 0 3
exec --on ring:3 -c "from mpi4py import MPI; MPI.COMM_WORLD.barrier()"
"""
"""All commands but `launch`, which becomes another program."""

EACH = """
import json, sys
from mpinet.cli import main
statuses = {}
for words in json.load(sys.stdin):
    try:
        main(words)
    except SystemExit as ended:
        statuses[" ".join(words)] = ended.code
json.dump(statuses, sys.stderr)
"""
"""All commands in one process, as they are called without launchers."""

COMPILES = """
from mpinet.launching.compiling import compile_all
if __name__ == "__main__":
    print(compile_all(["family:ring"], 1))
"""


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A folder of files named like modules; each that is loaded leaves a line in `loaded`."""
    folder = tmp_path / "trap"
    folder.mkdir()
    text = f"open({str(tmp_path / 'loaded')!r}, 'a').write(__name__ + '\\n')\n"
    for name in {*sys.stdlib_module_names, *packages_distributions(), "mpinet", "sitecustomize"}:
        if name.isidentifier():
            (folder / f"{name}.py").write_text(text)
    (folder / "plan.json").write_text('{"command": "flood", "topology": ["ring:4", "ring:8"]}')
    return folder


def run(folder: Path, *words: str | Path, **keywords) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder."""
    limits = {"capture_output": True, "text": True, "timeout": TIME_LIMIT}
    return subprocess.run(words, cwd=folder, **limits, **keywords)


def test_the_trap_is_one(trap: Path) -> None:
    run(trap, sys.executable, "-c", "import typing")
    assert (trap.parent / "loaded").read_text().split() == ["typing"]


def test_no_command_loads_a_module_from_the_current_folder(trap: Path) -> None:
    commands = [shlex.split(line) for line in COMMANDS.split("\n") if line]
    tried = {" ".join(words[:2]) if words[0] == "schedule" else words[0] for words in commands}
    assert tried == {*UNLISTED}.union(*GROUPS.values()) - {"launch"}
    done = run(trap, sys.executable, "-P", "-c", EACH, input=json.dumps(commands))
    statuses = json.loads(done.stderr.splitlines()[-1])
    failed = {command: status for command, status in statuses.items() if status}
    assert failed == {"resume saved": 2}, done.stderr  # there is nothing to resume
    assert not (trap.parent / "loaded").exists()


def test_nor_do_ranks_where_there_is_no_command_beside_python(trap: Path) -> None:
    alone = trap.parent / "bin/python"
    alone.parent.mkdir()
    alone.symlink_to(sys.executable)
    mpirun = own_mpirun()
    assert mpirun is not None
    path = {
        "PATH": f"{mpirun.parent}:{os.environ['PATH']}",
        "PYTHONPATH": f"{CHECKOUT}:{sysconfig.get_path('purelib')}",
    }
    words = ["launch", "-n", "2", "flood", "ring:8", "--json"]
    done = run(trap, alone, "-P", "-m", "mpinet", *words, env=os.environ | path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ranks"] == 2
    assert not (trap.parent / "loaded").exists()


def test_nor_do_processes_that_compile_beforehand(trap: Path, tmp_path: Path) -> None:
    (tmp_path / "compiles.py").write_text(COMPILES)
    done = run(trap, sys.executable, "-P", tmp_path / "compiles.py")
    assert (done.returncode, done.stdout) == (0, "\n"), done.stderr
    assert not (trap.parent / "loaded").exists()
