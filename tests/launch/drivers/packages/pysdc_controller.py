"""pySDC: spectral deferred corrections, a time step a rank."""

from mpi4py import MPI
from pySDC.implementations.controller_classes.controller_MPI import controller_MPI
from pySDC.implementations.problem_classes.HeatEquation_ND_FD import heatNd_unforced
from pySDC.implementations.sweeper_classes.generic_implicit import generic_implicit

comm = MPI.COMM_WORLD
controller = controller_MPI(
    controller_params={"logger_level": 90},
    description={
        "problem_class": heatNd_unforced,
        "problem_params": {"nu": 0.1, "freq": 4, "nvars": 63, "bc": "dirichlet-zero"},
        "sweeper_class": generic_implicit,
        "sweeper_params": {"quad_type": "RADAU-RIGHT", "num_nodes": 3, "QI": "LU"},
        "level_params": {"restol": 1e-9, "dt": 0.05},
        "step_params": {"maxiter": 50},
    },
    comm=comm,
)
start = controller.S.levels[0].prob.u_exact(0.0)
end, _ = controller.run(u0=start, t0=0.0, Tend=0.05 * comm.size)
print(comm.rank, f"{abs(end):.12e}")
