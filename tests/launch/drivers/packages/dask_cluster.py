"""A scheduler, workers and their client, each on a processor of its own, by dask-mpi."""

from dask_mpi import initialize

initialize(dashboard=False, nthreads=1, local_directory=".")

from dask import delayed  # noqa: E402 (only the client comes so far)
from distributed import Client  # noqa: E402


def squared(number):
    return number * number


with Client() as client:
    client.wait_for_workers(2)
    print("workers", len(client.scheduler_info()["workers"]))
    print("squares", client.gather(client.map(squared, range(10))))
    print("sum", delayed(sum)([delayed(squared)(number) for number in range(10)]).compute())
