"""``mpinet bench --ranks`` starts the launcher itself."""

import json
import os
import subprocess
import sys

from launch.conftest import TIME_LIMIT, own_mpirun


def test_every_number_of_ranks_gives_its_rows():
    mpirun = own_mpirun()
    assert mpirun is not None, "no mpirun"
    words = "-m mpinet bench idle --ranks 1,2 --size small --repeat 2 --json".split()
    done = subprocess.run(
        [sys.executable, *words],
        env={**os.environ, "PATH": f"{mpirun.parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["result"]
    assert [(row["name"], row["ranks"]) for row in rows] == [("idle-one", 1), ("idle-ranks", 2)]
    assert all(row["figure"] > 0 for row in rows)
