"""dlp_mpi: loops whose examples are split by a manager."""

import dlp_mpi

found = dlp_mpi.gather([(k, k * k) for k in dlp_mpi.split_managed(range(20), progress_bar=False)])
if dlp_mpi.IS_MASTER:
    print(sorted(pair for pairs in found for pair in pairs))
for k in dlp_mpi.map_unordered(lambda k: k + 1, range(10), progress_bar=False):
    assert 1 <= k <= 10
print("ends", dlp_mpi.RANK, dlp_mpi.SIZE)
