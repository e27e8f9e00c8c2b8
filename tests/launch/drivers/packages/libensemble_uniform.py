"""libEnsemble: a manager and workers, by MPI."""

import tempfile

import numpy as np
from libensemble.alloc_funcs.give_sim_work_first import give_sim_work_first
from libensemble.gen_funcs.sampling import latin_hypercube_sample
from libensemble.libE import libE
from mpi4py import MPI

comm = MPI.COMM_WORLD
folder = comm.bcast(tempfile.mkdtemp() if comm.rank == 0 else None)


def simulate(given, _):
    found = np.zeros(1, dtype=[("f", float)])
    found["f"] = np.sum(given["x"] ** 2)
    return found


def generate(_, info, specs):
    return latin_hypercube_sample(_, info, specs)


history, _, flag = libE(
    {"sim_f": simulate, "in": ["x"], "out": [("f", float)]},
    {
        "gen_f": generate,
        "out": [("x", float, (2,))],
        "user": {"gen_batch_size": 9, "lb": np.zeros(2), "ub": np.ones(2)},
    },
    {"sim_max": 9},
    persis_info={k: {"rand_stream": np.random.default_rng(k)} for k in range(comm.size)},
    alloc_specs={"alloc_f": give_sim_work_first},
    libE_specs={
        "comms": "mpi",
        "mpi_comm": comm,
        "disable_log_files": True,
        "workflow_dir_path": folder,
    },
)
if comm.rank == 0:
    print(flag, f"{history['f'][:9].sum():.9f}")
