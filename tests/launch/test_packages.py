"""Published packages, unmodified: scripts that use them print the same as under a real mpirun."""

import os
import re
import subprocess
from functools import cache
from pathlib import Path
from sysconfig import get_python_version

import pytest
from launch.conftest import CHECKOUT
from launch.sources import ENVIRONMENT, PYTHON, fetch

DRIVERS = Path(__file__).parent / "drivers/packages"

PACKAGES = {
    "schwimmbad_pool": "schwimmbad multiprocess dill",
    "emcee_sampler": "emcee schwimmbad multiprocess dill",
    "zeus_sampler": "zeus-mcmc schwimmbad multiprocess dill tqdm",
    "master_slave": "mpi-master-slave",
    "distributed_list": "mpi-list",
    "pyske_lists": "pyske",
    "distwq_queue": "distwq",
    "dlp_split": "dlp-mpi tqdm",
    "pymgrit_dahlquist": "pymgrit",
    "mpipool_executor": "mpipool tblib errorhandler dill",
    "adaptive_runner": "adaptive versioningit sortedcontainers sortedcollections cloudpickle loky",
    "ptmcmc_sampler": "ptmcmcsampler",
    "mpipartition_cube": "mpipartition",
    "h5py_files": "h5py",
    "pysdc_controller": "pysdc qmat",
    "libensemble_uniform": "libensemble tomli gest-api pydantic pydantic-core psutil "
    "annotated-types typing-inspection",
    "pylops_distributed": "pylops-mpi pylops pyproximal jax jaxlib ml-dtypes opt-einsum",
    "numba_mpi_calls": "numba-mpi psutil",
    "fft_transforms": "mpi4py-fft",
    "dask_cluster": "dask-mpi dask distributed click cloudpickle fsspec importlib-metadata jinja2 "
    "lazy-importer locket markupsafe msgpack partd psutil pyyaml sortedcontainers tblib toolz "
    "tornado zict zipp",
}
"""What is installed for each script; what these need beside it is installed with the tests."""

OPTIONS = {"libensemble_uniform": ("--own", "libensemble")}
"""What some need: docs/reference/mpi4py-programs.md has why."""


@cache
def settings(packages: str) -> dict[str, str]:
    """The environment in which packages are installed, in a folder of their own."""
    base = CHECKOUT / ".venv/share/packages" / packages.replace(" ", "+")
    library = base / f"lib/python{get_python_version()}/site-packages"
    if not library.is_dir():
        words = ["-m", "pip", "install", "--quiet", "--no-deps", "--target", library]
        subprocess.run([PYTHON, *words, *packages.split()], check=True, timeout=600)
    one = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "MKL", "OPENBLAS")}
    # A user's folder counts as installed: what does not reach mpi4py is loaded once.
    here = {"PYTHONPATH": str(library), "PYTHONUSERBASE": str(base), "PYTHONWARNINGS": "ignore"}
    return os.environ | here | one


def printed(name: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """What a script has printed."""
    return subprocess.run(
        [CHECKOUT / "launch/run", "-n", *words, DRIVERS / f"{name}.py"],
        cwd=folder,
        env=settings(PACKAGES[name]),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
    )


def emulated(name: str, folder: Path, ranks: int = 1) -> subprocess.CompletedProcess[str]:
    """What it has printed on four emulated processors."""
    options = OPTIONS.get(name, ())
    return printed(name, folder, str(ranks), "mpinet", "exec", "--on", "hypercube:2", *options)


@pytest.mark.long
@pytest.mark.parametrize("name", PACKAGES)
def test_a_script_that_uses_a_package_prints_the_same_lines(name, tmp_path):
    real = printed(name, tmp_path, "4", str(PYTHON))
    assert real.returncode == 0 and real.stdout, real.stderr
    for ranks in (1, 2):
        here = emulated(name, tmp_path, ranks)
        assert here.returncode == 0, here.stderr
        lines, heading, _ = here.stdout.partition(f"{name}.py on hypercube:2\n")
        assert heading and sorted(lines.splitlines()) == sorted(real.stdout.splitlines())


SUITES = {"mpi-list": 23, "pyske": 202, "mpi4py-fft": 4}
"""Packages whose own tests run under MPI, and how many they are."""

SOURCES = {
    "mpi-list": ("0.4.0", "mpi_list-0.4.0", "tests"),
    "mpi4py-fft": ("2.0.6", "mpi4py_fft-2.0.6", "tests/test_darray.py"),
}
"""Those whose tests are in their sources alone: version, folder, and where the tests are."""


def suite_of(package: str) -> Path:
    """The folder of a package's tests, or their file."""
    if package == "pyske":
        return Path(settings("pyske")["PYTHONPATH"]) / "pyske/test"
    version, name, tests = SOURCES[package]
    folder = ENVIRONMENT / "share" / name
    if not folder.is_dir():
        fetch(package, version, folder)
    return folder / tests


@pytest.mark.long
@pytest.mark.parametrize("package", SUITES)
def test_a_packages_own_tests_come_to_the_same_under_the_plugin(package, tmp_path):
    """A test that fails on some rank under mpiexec fails here: pyske has one."""
    tests = ["-o", "addopts=", "-rf", "-p", "no:cacheprovider", str(suite_of(package))]

    def failed(*words: str) -> tuple[set[str], str]:
        done = subprocess.run(
            [*words, *tests],
            cwd=tmp_path,
            env=settings(package) | {"NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=600,
        )
        return set(re.findall(r"^FAILED \S*::(\S+)", done.stdout, re.MULTILINE)), done.stdout

    pytests = [str(PYTHON), "-m", "pytest"]
    real, told = failed(str(CHECKOUT / "launch/run"), "-n", "4", *pytests, "-p", "no:mpinet")
    here, said = failed(*pytests, "--mpinet", "4")
    assert here == real, said + told
    assert f"{SUITES[package] - len(here)} passed" in said
