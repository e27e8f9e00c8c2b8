"""Partitioned messages: pieces that set out as they become ready, and come to their places."""

import pytest
from mpi.machine.ranks import transport
from mpi.scripts.playing import played

from mpinet.errors import Deadlock, UsageError

pytestmark = pytest.mark.mpi

RING = """
    right, left = (rank + 1) % size, (rank - 1) % size
"""


def test_ends_that_divide_a_message_differently_meet_in_every_turn(tmp_path):
    script = (
        RING
        + """
    for own, theirs in (4, 3), (1, 6), (6, 2):
        sent, got = np.zeros(12), np.zeros((12, 2))
        one = comm.Psend_init(sent, own, right, 7)
        into = [got, 12 // theirs, MPI.DOUBLE.Create_resized(0, 16)]
        other = comm.Precv_init(into, theirs, left, 7)
        for turn in range(2):
            sent[:] = np.arange(12) + 100 * rank + turn
            MPI.Prequest.Startall([one, other])
            for partition in np.random.default_rng(rank).permutation(own):
                one.Pready(int(partition))
            status = MPI.Status()
            other.Wait(status)
            one.Wait()
            expected = np.arange(12) + 100 * left + turn
            counted = status.source, status.tag, status.Get_count(MPI.DOUBLE)
            say(bool((got[:, 0] == expected).all() and not got[:, 1].any()) and counted)
    """
    )
    said, outcome = played(tmp_path, "ring:3", script)
    assert said == {rank: [((rank - 1) % 3, 7, 12)] * 6 for rank in range(3)}
    costs = {each.kind: each.messages for each in outcome.kinds if each.messages}
    assert transport().rank or costs == {"Pready": 3 * 2 * (4 + 1 + 6)}


def test_a_partition_is_there_when_what_it_shares_has_come_and_turns_do_not_mix(tmp_path):
    script = """
    if rank == 0:
        data = np.arange(6, dtype="i")
        whole = comm.Psend_init(data, 3, 1)
        for turn in range(2):  # the second turn sets out before the receiver's first is over
            whole.Start()
            whole.Pready(2)
            if turn == 0:
                comm.send(None, 1)
                comm.recv(source=1)
            whole.Pready_list([0, 1])
            whole.Wait()
            data += 10
        comm.send(None, 1)
    else:
        got = np.full(6, -1, "i")
        halves = comm.Precv_init(got, 2, 0, 0)
        say(halves.Parrived(0))  # not active
        halves.Start()
        comm.recv(source=0)
        say([halves.Parrived(half) for half in range(2)])  # of the second half a third lacks
        comm.send(None, 0)
        comm.recv(source=0)
        say([halves.Parrived(half) for half in range(2)])
        halves.Wait()
        say(got.tolist())
        halves.Start()
        say(halves.Test())
        say(got.tolist())
    """
    said, _ = played(tmp_path, "complete:2", script)
    first = list(range(6))
    second = [number + 10 for number in first]
    assert said[1] == [True, [False, False], [True, True], first, True, second]


def test_the_first_sender_of_an_envelope_meets_the_first_receiver(tmp_path):
    script = """
    if rank == 0:
        ends = [comm.Psend_init(bytearray([number] * 2), 2, 1, 5) for number in range(3)]
        for end in reversed(ends):
            end.Start()
            end.Pready_range(0, 1)
            end.Wait()
    else:
        memory = [bytearray(2) for _ in range(3)]
        for end in [comm.Precv_init(each, 1, 0, 5) for each in memory]:
            end.Start()
            end.Wait()
        say([bytes(each) for each in memory])
        nobody = comm.Precv_init(bytearray(2), 2, MPI.PROC_NULL, 5)
        nobody.Start()
        say(nobody.Parrived(0) and nobody.Wait())
    """
    said, _ = played(tmp_path, "complete:2", script)
    assert said[1] == [[bytes([number] * 2) for number in range(3)], True]


def test_what_cannot_be_is_an_error_of_mpi(tmp_path):
    script = """
    def error(function, *arguments):
        try:
            function(*arguments)
        except MPI.Exception as error:
            say(MPI.Get_error_class(error.Get_error_code()))

    mine = comm.Psend_init(bytearray(4), 2, rank)
    its = comm.Precv_init(bytearray(3), 1, rank, 0)
    error(mine.Pready, 0)  # not active
    mine.Start()
    its.Start()
    error(mine.Pready, 2)
    mine.Pready(0)
    error(mine.Pready, 0)
    error(its.Pready, 0)
    error(mine.Parrived, 0)
    error(its.Parrived, 1)
    mine.Pready(1)
    error(its.Wait)
    error(comm.Precv_init, bytearray(1), 1)
    error(comm.Precv_init, bytearray(1), 1, 0)
    error(comm.Psend_init, bytearray(1), 0, 0)
    error(comm.Psend_init, bytearray(1), 1, size)
    error(comm.Send_init(b"", 0).Pready, 0)
    say([MPI.ERR_REQUEST, MPI.ERR_ARG, MPI.ERR_TRUNCATE, MPI.ERR_RANK, MPI.ERR_TAG])
    """
    said, _ = played(tmp_path, "complete:2", script)
    *errors, (request, arg, truncate, rank, tag) = said[0]
    expected = [request, arg, arg, request, request, arg, truncate, rank, tag, arg, rank, request]
    assert errors == expected


def test_a_partition_that_nobody_makes_ready_is_a_deadlock_with_both_lines(tmp_path):
    script = """
    if rank == 0:
        end = comm.Psend_init(bytearray(3), 3, 1)
        end.Start()
        end.Pready(1)
        comm.recv(source=1)
    elif rank == 1:
        end = comm.Precv_init(bytearray(3), 3, 0, 0)
        end.Start()
        end.Wait()
    """
    with pytest.raises(Deadlock) as stuck:
        played(tmp_path, "ring:3", script)
    told = str(stuck.value)
    assert "script.py:15: waits in recv" in told and "script.py:19: waits in Wait" in told
    assert "for rank 0 to have partition 0 and 1 more ready" in told
    with pytest.raises(Deadlock, match="Wait since step 0 for its own Pready of partition 0"):
        played(tmp_path, "ring:3", script.replace("comm.recv(source=1)", "end.Wait()"))


def test_a_script_with_partitions_is_no_program_of_messages(tmp_path):
    script = """
    one = comm.Psend_init(bytearray(1), 1, (rank + 1) % size)
    one.Start()
    """
    played(tmp_path, "ring:3", script, compute=0.0)  # nothing is sent
    with pytest.raises(UsageError, match="partitioned messages"):
        played(tmp_path, "ring:3", script.replace("Start()", "Start(); one.Pready(0)"), compute=0.0)
