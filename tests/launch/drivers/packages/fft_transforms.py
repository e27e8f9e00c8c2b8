"""mpi4py-fft: transforms of a field in slabs and in pencils, beside NumPy's of it all."""

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
    print(comm.rank, *cut, fft.shape(True), right, np.allclose(back, field), total)
    fft.destroy()
