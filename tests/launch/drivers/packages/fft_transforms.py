"""mpi4py-fft: transforms of a field in slabs and in pencils, beside NumPy's of it all.

It tells of blocks by where they begin: which rank has which is up to `Create_cart`, which may
reorder ranks as it suits the network.
"""

import numpy as np
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray

comm = MPI.COMM_WORLD
shape = (8, 12, 10)
whole = np.random.default_rng(1).random(shape)

for cut in ({"slab": True}, {"grid": (2, -1)}):
    fft = PFFT(comm, shape, dtype=float, **cut)
    field = newDistArray(fft, forward_output=False)
    field[:] = whole[fft.local_slice(False)]
    waves = fft.forward(field, normalize=False)
    right = np.allclose(waves, np.fft.rfftn(whole)[fft.local_slice(True)])
    back = fft.backward(waves, normalize=True)
    total = round(abs(waves).sum(), 6)
    begins = [part.start for part in fft.local_slice(True)]
    print(*cut, begins, fft.shape(True), right, np.allclose(back, field), total)
    fft.destroy()
