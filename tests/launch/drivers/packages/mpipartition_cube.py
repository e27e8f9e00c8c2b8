"""MPIPartition: particles go to the ranks of their subvolumes, and ghosts to their neighbours."""

import numpy as np
from mpipartition import Partition, distribute, overload

partition = Partition(2)
rng = np.random.default_rng(partition.rank)
names = "xy"
particles = {name: rng.random(200) for name in names}
mine = distribute(partition, 1.0, particles, names)
ghosts = overload(partition, 1.0, mine, 0.1, names)
print(partition.rank, len(mine["x"]), len(ghosts["x"]), f"{ghosts['x'].sum():.9f}")
