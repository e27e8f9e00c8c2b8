"""A program of a pool: run by ``-m mpi4py.futures``, prints what does not depend on the workers."""

import sys

from mpi4py.futures import MPIPoolExecutor, as_completed, get_comm_workers, wait


class Point:
    """An object of the script's own class, which workers make."""

    def __init__(self, x: int) -> None:
        self.x = x


def square(x: int) -> int:
    """The work."""
    return x * x


def fail(x: int) -> None:
    """A task that fails."""
    raise ValueError(x)


def crew(_: object) -> int:
    """How many workers there are, as one of them sees it."""
    return get_comm_workers().Get_size()


def main() -> None:
    """Submit tasks in all ways."""
    with MPIPoolExecutor() as pool:
        print(pool.num_workers, list(pool.map(square, range(20))))
        futures = [pool.submit(square, number) for number in range(5)]
        print(sorted(future.result() for future in as_completed(futures)))
        print(repr(pool.submit(fail, 3).exception()))
        print([future.result() for future in wait([pool.submit(square, 9)]).done])
        print(pool.submit(Point, 4).result().x, pool.submit(crew, 1).result())
        print(sum(pool.starmap(pow, [(number, 2) for number in range(50)], chunksize=7)))
        print(type(pool.submit(lambda: 3).exception()).__name__)
        print(sorted(pool.map(square, range(9), unordered=True)), sys.argv[1:])
    with MPIPoolExecutor(initializer=fail, initargs=(1,)) as broken:
        print(type(broken.submit(square, 2).exception()).__name__)


if __name__ == "__main__":
    main()
