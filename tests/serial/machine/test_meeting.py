"""Ranks that meet know the same, and who sends them how many, after log2(ranks) messages each."""

import numpy as np
import pytest

from mpinet.machine import meeting as meetings_of
from mpinet.machine.dry import Dry
from mpinet.machine.meeting import FIXED, MAXIMA, SUMS, Meeting, volume


def meet(meetings: list[Meeting], counts: np.ndarray) -> np.ndarray:
    """Play a meeting of all ranks in one process; return messages and words that each sends."""
    sent = np.zeros((2, len(meetings)), np.int64)
    for meeting, own in zip(meetings, counts, strict=True):
        meeting.begin(own)
    for k in range(len(meetings[0].hops)):
        out = []
        for meeting in meetings:
            distance, above, _ = meeting.hops[k]
            message, more = meeting.out(distance)
            out.append((message.copy(), more))
            assert meetings[above].hops[k][2] == meeting.rank
            sent[:, meeting.rank] += 1 + (len(more) > 0), len(message) + len(more)
        for meeting in meetings:
            distance, _, below = meeting.hops[k]
            message, more = out[below]
            meeting.answer[: len(message)] = message
            assert meeting.missing == len(more)
            meeting.take(distance, more)
    for meeting in meetings:
        meeting.end()
    return sent


def drawn(size: int, share: float) -> tuple[list[Meeting], np.ndarray, np.ndarray, np.ndarray]:
    """Ranks with random facts and counts of records for a share of all pairs."""
    random = np.random.default_rng(size)
    meetings = [Meeting(rank, size) for rank in range(size)]
    maxima = random.integers(-(2**62), 2**62, (size, MAXIMA))
    sums = random.integers(-(2**50), 2**50, (size, SUMS))
    for meeting in meetings:
        meeting.maxima[:], meeting.sums[:] = maxima[meeting.rank], sums[meeting.rank]
    counts = random.integers(1, 2**40, (size, size)) * (random.random((size, size)) < share)
    return meetings, maxima, sums, counts


@pytest.mark.parametrize("room", [meetings_of.ROOM, 2])
@pytest.mark.parametrize("share", [0, 0.3, 1])
@pytest.mark.parametrize("size", [*range(1, 10), 13, 16, 17, 31])
def test_all_learn_maxima_sums_and_the_counts_for_them(size, share, room, monkeypatch):
    monkeypatch.setattr(meetings_of, "ROOM", room)  # what is beyond comes in a second message
    meetings, maxima, sums, counts = drawn(size, share)
    sent, _ = meet(meetings, counts)
    assert all(sent >= np.ceil(np.log2(size)))
    for meeting in meetings:
        assert np.array_equal(meeting.maxima, maxima.max(axis=0))
        assert np.array_equal(meeting.sums, sums.sum(axis=0))
        others = np.flatnonzero(counts[:, meeting.rank])
        expected = zip(others.tolist(), counts[others, meeting.rank].tolist(), strict=True)
        assert meeting.come == list(expected)


@pytest.mark.parametrize("size", [2, 3, 8, 16, 1024])
def test_a_rank_sends_ten_messages_where_there_are_a_thousand_and_words_for_its_partners(size):
    meetings, *_ = drawn(size, 0)
    partners = np.arange(size)[:, None] ^ (1 << np.arange(size.bit_length() - 1))
    counts = np.zeros((size, size), np.int64)
    for rank, others in enumerate(partners):
        counts[rank, others[others < size]] = 5
    messages, words = meet(meetings, counts)
    rounds = int(np.ceil(np.log2(size)))
    assert set(messages) == {rounds}
    assert words.max() <= FIXED * rounds + rounds * rounds
    # A rank that is played alone counts the words for its own counts, wherever they are sent from.
    dry = [Dry(rank, size) for rank in range(size)]
    for rank, played in enumerate(dry):
        played.exchange(np.zeros(counts[rank].sum(), np.int8), counts[rank])
    assert sum(volume(rank, counts[rank]) for rank in range(size)) == 8 * words.sum()
    assert sum(played.volume for played in dry) == 8 * words.sum() + counts.sum()
    assert [played.messages for played in dry] == (rounds + (counts > 0).sum(axis=1)).tolist()
