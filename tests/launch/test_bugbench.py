"""The right programs of the benchmark of MPI bugs are right under real MPI libraries."""

from pathlib import Path

import bugbench
import pytest
from launch.conftest import TIME_LIMIT, other_mpirun, own_mpirun

RIGHT = [program for program in bugbench.programs() if not program.wrong]

EITHER = [pytest.param(own_mpirun, id="own"), pytest.param(other_mpirun, id="other")]


@pytest.mark.long
@pytest.mark.parametrize("mpirun", EITHER, indirect=True)
@pytest.mark.parametrize("program", RIGHT, ids=lambda program: program.pair)
def test_a_right_program_ends_well(mpirun: Path, program: bugbench.Program) -> None:
    tool = bugbench.library("real", str(mpirun.parent / "python"), TIME_LIMIT)
    ended = bugbench.run(tool, program, TIME_LIMIT)
    assert ended.end == "ended", ended
