"""mpi-master-slave: a master hands work to slaves until all is done."""

from mpi4py import MPI
from mpi_master_slave import Master, Slave
from mpi_master_slave.work_queue import WorkQueue


class Squaring(Slave):
    def do_work(self, data):
        return data, data**2


rank, size = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
if rank == 0:
    master = Master(range(1, size))
    queue = WorkQueue(master)
    for number in range(20):
        queue.add_work(number)
    found = []
    while not queue.done():
        queue.do_work()
        found.extend(queue.get_completed_work())
    master.terminate_slaves()
    print(sorted(found))
else:
    Squaring().run()
print("ends", rank)
