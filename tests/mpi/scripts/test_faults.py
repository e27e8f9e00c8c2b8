"""Processors that fail, and the calls by which others go on without them."""

import pytest
from mpi.scripts.playing import played

from mpinet.errors import Deadlock

pytestmark = pytest.mark.mpi

ERRORS = """
    def error(function, *arguments):
        try:
            function(*arguments)
        except MPI.Exception as error:
            return MPI.Get_error_class(error.Get_error_code())

    failed, pending, revoked = MPI.ERR_PROC_FAILED, MPI.ERR_PROC_FAILED_PENDING, MPI.ERR_REVOKED
"""

SUMS = """
    world, sums = comm, []
    while len(sums) < 12:
        well, total = 0, 0
        try:
            total = comm.allreduce(1 << rank)
            well = comm.Agree(1)
        except MPI.Exception as error:
            assert error.Get_error_class() in (MPI.ERR_PROC_FAILED, MPI.ERR_REVOKED)
            if total == 0:
                try:
                    comm.Revoke()
                    comm.Agree(0)
                except MPI.Exception:
                    pass
        if well:
            sums.append(total)
        else:
            comm = comm.Shrink()
    say((sums, world.Get_failed().Translate_ranks(), comm.Get_size()))
"""


@pytest.mark.parametrize("network", ["torus:3x3", "hypercube:3"])
def test_who_is_left_goes_on_from_the_turn_that_all_have_done(tmp_path, network):
    said, outcome = played(tmp_path, network, SUMS, faults={4: 20, 0: 33, 2: 33})
    whole = (1 << outcome.processors) - 1
    assert [one for one, _, _ in outcome.failed] == [0, 2, 4]
    found = {str(one) for rank, told in said.items() if rank not in (0, 2, 4) for one in told}
    assert len(found) == 1 and not said[0] + said[2] + said[4]
    (sums, failed, size), *_ = said[1]
    assert failed == [4, 0, 2] and size == outcome.processors - 3 and len(sums) == 12
    parts = [whole, whole - (1 << 4), whole - (1 << 4) - 1 - 4]
    assert sums == sorted(sums, key=parts.index) and {sums[0], sums[-1]} == {parts[0], parts[2]}


def test_what_a_failed_processor_has_sent_comes_before_its_failure_is_known(tmp_path):
    script = (
        ERRORS
        + """
    if rank == 0:
        for number in range(3):
            comm.send(number, 3)
        comm.recv(source=1)  # in vain: it fails
    elif rank == 3:
        say([comm.recv(source=0) for number in range(3)])
        say([error(comm.recv, None, 0) == failed, error(comm.send, 1, 0) == failed])
        say(error(comm.Irecv(bytearray(1), 0).Wait) == failed)
        open = comm.Irecv(bytearray(1))
        say([error(open.Wait) == pending, error(comm.recv) == failed])
        say([comm.Ack_failed(0), comm.Ack_failed(), comm.Get_failed().Translate_ranks()])
        comm.send(5, 2)
        open.Wait()
        say(comm.recv())
    elif rank == 2:
        number = comm.recv(source=3)
        comm.Send(bytearray(1), 3)
        comm.send(number, 3)
    """
    )
    said, outcome = played(tmp_path, "ring:8", script, faults={0: 2})
    assert said[3] == [[0, 1, 2], [True, True], True, [True, True], [0, 1, [0]], 5]
    ((processor, step, known),) = outcome.failed
    assert (processor, step) == (0, 2) and known >= 2 + 3  # three hops to rank 3, one a step


def test_a_revoked_communicator_lets_all_its_calls_fail_and_others_go_on(tmp_path):
    script = (
        ERRORS
        + """
    apart = comm.Dup()
    if rank == 0:
        apart.Revoke()
    else:
        say(error(apart.recv, None, (rank + 1) % size) == revoked)
    calls = [(apart.Barrier,), (apart.send, 1, rank), (apart.recv, None, MPI.PROC_NULL)]
    calls += [(apart.Irecv, bytearray(1)), (apart.Dup,), (apart.Send, b"", MPI.PROC_NULL)]
    say([error(*call) == revoked for call in calls])
    say((apart.Is_revoked(), comm.Is_revoked(), comm.allreduce(1), apart.Agree(6 | rank)))
    """
    )
    said, _ = played(tmp_path, "ring:4", script)
    for rank in range(4):
        first = [True] if rank else []
        assert said[rank] == [*first, [True] * 6, (True, False, 4, 6)]


def test_an_agreement_survives_the_one_who_decides_and_tells_all_of_failures(tmp_path):
    script = (
        ERRORS
        + """
    if rank == 2:
        comm.recv(source=2, tag=9)  # in vain: it fails
    if rank != 0:
        say(error(comm.Agree, 7))  # nobody has acknowledged
        comm.Ack_failed()
        say(comm.Agree(12 + rank % 2))
        flag = np.array([8 | rank], "i")
        request = comm.Iagree(flag)
        request.Wait()
        say(int(flag[0]))
        made, request = comm.Ishrink()
        request.Wait()
        say((made.rank, made.size, made.allreduce(rank)))
    else:
        comm.recv(source=1)
    """
    )
    said, outcome = played(tmp_path, "ring:5", script, faults={0: 9, 2: 12})
    flag = (8 | 1) & (8 | 3) & (8 | 4)
    for new, rank in enumerate((1, 3, 4)):
        code, agreed, whole, shrunk = said[rank]
        assert code and agreed == 12 and whole == flag and shrunk == (new, 3, 8)
    assert outcome.failed[0][:2] == (0, 9)


def test_groups_of_an_intercommunicator_shrink(tmp_path):
    script = (
        ERRORS
        + """
    half = comm.Split(rank % 2)
    between = half.Create_intercomm(0, comm, 1 - rank % 2)
    if rank == 3:
        comm.recv(source=0, tag=9)
    else:
        say(error(between.recv, None, 1) == failed if rank % 2 == 0 else True)
        made = between.Shrink()
        say((made.size, made.remote_size, made.allreduce(rank)))
    """
    )
    said, _ = played(tmp_path, "ring:6", script, faults={3: 60})
    for rank in (0, 2, 4):
        assert said[rank] == [True, (3, 2, 1 + 5)]
    assert said[1] == said[5] == [True, (2, 3, 0 + 2 + 4)]


def test_who_waits_for_one_that_does_not_fail_is_a_deadlock_after_all_failures(tmp_path):
    script = "    comm.recv(source=(rank + 1) % 2) if rank < 2 else comm.recv(source=0)\n"
    with pytest.raises(Deadlock, match="Deadlock after step 50: 2 processors wait"):
        played(tmp_path, "ring:3", script, faults={2: 50})
