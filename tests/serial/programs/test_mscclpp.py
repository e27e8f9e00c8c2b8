"""Plans of MSCCL++: what is written runs in every order of blocks; what is wrong is named."""

import json
import random
from collections import Counter
from itertools import chain

import pytest

import mpinet
from mpinet.cli.session import CommandSession
from mpinet.programs.schedules.files import buffers

EXPORTS = [
    ("gossip", "petersen", {"ports": "all"}),
    ("gossip", "ring:5", {"items": 2}),
    ("allreduce", "hypercube:3", {}),
    ("allreduce", "petersen", {"items": 3, "ports": "all"}),
    ("reducescatter", "mesh:2x3", {}),
    ("broadcast", "debruijn:3", {"root": 0, "items": 3}),
]


class Executor:
    """Executes a plan by its flags: GPUs' thread blocks step by step, in a random order."""

    def __init__(self, plan, draw):
        self.plan, self.draw = plan, draw
        self.memory, self.flags = {}, Counter()

    def place(self, gpu, block, ref, kind):
        name = ref.get("type")
        if "buffer_id" in ref:
            refs = [
                each for each in block["remote_buffer_refs"] if each["access_channel_type"] == kind
            ]
            numbers = [number for each in refs for number in each["remote_buffer_ids"]]
            there = self.plan["gpus"][gpu]["remote_buffers"][numbers[ref["buffer_id"]]]
            gpu, name = there["rank"], there["type"]
        return gpu, name, ref["index"]

    def channel(self, gpu, block, turn):
        """Who is at the other end, and which of the channels between the two it is."""
        peers = self.plan["gpus"][gpu]["channels"][0]["connected_to"]
        number = block["channels"][0]["channel_ids"][turn]
        return peers[number], peers[:number].count(peers[number])

    def done(self, gpu, block, op):
        """Do an operation; False if it has to wait."""
        kind, name = op.get("channel_type"), op["name"]
        ends = [(*self.channel(gpu, block, turn),) for turn in op.get("channel_ids", [])]
        if name == "wait":
            keys = [(peer, gpu, number) for peer, number in ends]
            if any(self.flags[key] == 0 for key in keys):
                return False
            self.flags.subtract(keys)
        if name == "signal":
            self.flags.update((gpu, peer, number) for peer, number in ends)
        sources = [self.place(gpu, block, ref, kind) for ref in op.get("src_buff", [])]
        for ref in op.get("dst_buff", []):
            values = [self.memory[place] for place in sources]
            self.memory[self.place(gpu, block, ref, kind)] = sum(values) % 2**64
        return True

    def run(self):
        waiting = [
            (gpu, block, iter(block["ops"]), [None])
            for gpu, each in enumerate(self.plan["gpus"])
            for block in each["threadblocks"]
        ]
        while waiting:
            self.draw.shuffle(waiting)
            left, moved = [], False
            for gpu, block, ops, held in waiting:
                op = held[0] or next(ops, None)
                if op is None:
                    moved = True
                    continue
                ready = self.done(gpu, block, op)
                held[0] = None if ready else op
                moved |= ready
                left.append((gpu, block, ops, held))
            assert moved, "hangs"
            waiting = left


@pytest.mark.parametrize(("collective", "network", "options"), EXPORTS)
def test_a_written_plan_runs_in_random_orders_and_is_read_again(
    tmp_path, collective, network, options
):
    file = tmp_path / "plan.json"
    written = mpinet.schedule.export(collective, network, out=file, **options)
    plan, items = json.loads(file.read_text()), options.get("items", 1)
    hosts = len(plan["gpus"])
    for seed in range(3):
        draw = random.Random(seed)
        executor = Executor(plan, draw)
        own = items if collective in ("gossip", "broadcast") else plan["gpus"][0]["input_chunks"]
        given = [[draw.getrandbits(64) for _ in range(own)] for _ in range(hosts)]
        for gpu in range(hosts):
            for index, value in enumerate(given[gpu]):
                place = ("o", gpu * items + index) if collective == "gossip" else ("i", index)
                if collective != "broadcast" or gpu == 0:
                    executor.memory[(gpu, *place)] = value
        executor.run()
        total = [sum(each[at] for each in given) % 2**64 for at in range(own)]
        for gpu in range(hosts):
            if collective == "gossip":
                wanted = {("o", at): v for at, v in enumerate(chain(*given))}
            elif collective == "broadcast":
                wanted = {("i", at): v for at, v in enumerate(given[0])}
            elif collective == "allreduce":
                wanted = {("i", at): v for at, v in enumerate(total)}
            else:
                wanted = {("i", at): total[at] for at in range(gpu * items, (gpu + 1) * items)}
            assert all(executor.memory[(gpu, *place)] == value for place, value in wanted.items())
    found = mpinet.schedule.run(file, network, **{"ports": "all"})
    assert (found.format, found.correct, found.rows) == ("MSCCL++", True, written.rows)


def piece(index, kind="i"):
    return {"type": kind, "index": index, "size": 1}


def there(index, number=0):
    return {"buffer_id": number, "index": index, "size": 1}


def op(name, sources=(), targets=(), channels=None):
    made = {"name": name, "channel_type": "memory"}
    made |= {"src_buff": [*sources], "dst_buff": [*targets]} if sources else {}
    return made | ({} if channels is None else {"channel_ids": channels})


def plan(blocks, collective="allreduce", remote="i"):
    """Two GPUs of two chunks, with the operations of each block of each."""
    gpus = []
    for gpu, own in enumerate(blocks):
        made = [
            {
                "id": number,
                "ops": ops,
                "channels": [{"channel_type": "memory", "channel_ids": [number]}],
                "remote_buffer_refs": [{"access_channel_type": "memory", "remote_buffer_ids": [0]}],
            }
            for number, ops in enumerate(own)
        ]
        gpus.append(
            {
                "id": gpu, "input_chunks": 2, "output_chunks": 2, "scratch_chunks": 2,
                "channels": [{"channel_type": "memory", "connected_to": [1 - gpu] * len(own)}],
                "remote_buffers": [
                    {"rank": 1 - gpu, "type": remote, "access_channel_types": ["memory"]}
                ],
                "threadblocks": made,
            }
        )  # fmt: skip
    return {"name": "p", "collective": collective, "inplace": True, "gpus": gpus}


def by_reading(gpu, own):
    """Read the other's chunk, add it to one's own, and write the sum to both."""
    signal, wait = op("signal", channels=[0]), op("wait", channels=[0])
    both = op("rres", [piece(own), there(own)], [piece(own), there(own)])
    return [op("rlxsignal", channels=[0]), op("rlxwait", channels=[0]), both, signal, wait]


def by_packets(gpu):
    """Send the other's share by packets, add up one's own, and send the sum back."""
    own, other = gpu, 1 - gpu
    return [
        op("ppkt", [piece(other)], [there(0)]),
        op("respkt", [piece(own), piece(0, "s")], [piece(own), there(1)]),
        op("upkt", [piece(1, "s")], [piece(other)]),
    ]


def run_of(tmp_path, capsys, document):
    file = tmp_path / "plan.json"
    file.write_text(document if isinstance(document, str) else json.dumps(document))
    status = CommandSession(f"schedule run {file} --on complete:2 --ports all".split()).run()
    said = capsys.readouterr()
    return status, said.out + said.err


def test_plans_that_read_and_that_send_packets_take_the_messages_that_they_say(tmp_path, capsys):
    reading = plan([[by_reading(gpu, gpu)] for gpu in range(2)])
    status, said = run_of(tmp_path, capsys, reading)
    assert (status, "messages     4" in said, "correct      yes" in said) == (0, True, True)
    status, said = run_of(
        tmp_path, capsys, plan([[by_packets(gpu)] for gpu in range(2)], remote="s")
    )
    assert (status, "steps        2" in said, "correct      yes" in said) == (0, True, True)


def test_a_result_says_if_races_were_searched(tmp_path, capsys, monkeypatch):
    reading = plan([[by_reading(gpu, gpu)] for gpu in range(2)])
    assert "races        none\n" in run_of(tmp_path, capsys, reading)[1]
    copies = [op("copy", [piece(turn)], [piece(0, "s")]) for turn in range(2)]
    racing = plan([[[copies[0]], [copies[1]]], [[]]])
    status, said = run_of(tmp_path, capsys, racing)
    assert (status, "both use s[0] of GPU 0" in said, "correct      NO" in said) == (1, True, True)
    monkeypatch.setattr(buffers, "MOST_CLOCKS", 0)
    status, said = run_of(tmp_path, capsys, racing)  # nobody looks
    assert (status, "races        not searched\n" in said) == (1, True), said


def faults():
    wait = op("wait", channels=[0])
    put = op("put", [piece(0)], [there(0)])
    unread = plan([[[op("put", [piece(0, "s")], [there(0)])]], [[]]])
    crossed = plan([[[wait, op("signal", channels=[0])]] for _ in range(2)])
    packets = plan([[[op("upkt", [piece(0, "s")], [piece(0)])]], [[]]], remote="s")
    switch = plan([[[put]], [[]]])
    switch["gpus"][0]["channels"] = [{"channel_type": "switch", "rank_groups": []}]
    grouped = plan([[[put | {"tbg_info": {"tb_id": 0, "tbg_size": 2}}]], [[]]])
    huge = plan([[[op("put", [piece(0) | {"size": 2**40}], [there(0)])]], [[]]])
    yield "waits", plan([[[wait]], [[]]]), "gpus[0].threadblocks[0].ops[0]: GPU 0 waits for ever"
    yield "crossed", crossed, "GPU 0 waits for ever"
    yield "packets", packets, "0 packets come to s[0]"
    yield "unread", unread, "ops[0]: GPU 0 reads s[0], but the place is empty"
    yield "outside", plan([[[op("copy", [piece(2)], [piece(0)])]], [[]]]), "of GPU 0 has 2 chunks"
    yield "switch", switch, "(NVLS) are not messages between two GPUs"
    yield "group", grouped, "(tbg_info) are not supported"
    yield "huge", huge, "size is a whole number 0..1048576"
    yield "unknown", plan([[[op("glre")]], [[]]]), "the operation 'glre' is unknown"
    yield "channel", plan([[[op("signal", channels=[3])]], [[]]]), "a channel outside its list"
    yield "buffer", plan([[[op("put", [piece(0)], [there(0, 7)])]], [[]]]), "names remote buffer 7"
    yield "purpose", plan([[[]], [[]]], "dance"), "the collective 'dance' is not one of"
    yield "other", {"a": 1}, "has none of the recognized contents (mpinet, GOAL, MSCCL, ForestColl"
    yield "gpus", {"gpus": 1}, "no list of gpus"
    yield "broken", '{"gpus": [', "line 1: the text is not JSON"
    yield "deep", '{"gpus":' + "[" * 10**5, "the text is not JSON"


FAULTS = [*faults()]


@pytest.mark.parametrize(("name", "document", "sentence"), FAULTS, ids=[each[0] for each in FAULTS])
def test_what_is_wrong_with_a_plan_is_said_where_it_is(tmp_path, capsys, name, document, sentence):
    status, said = run_of(tmp_path, capsys, document)
    assert (status, "Traceback" in said) == (2, False)
    assert sentence in said


def races():
    """Plans of right data by some order, whose blocks race; and the sentence on the race."""
    share = [[by_reading(gpu, gpu)] for gpu in range(2)]
    copies = [op("copy", [piece(turn)], [piece(0, "s")]) for turn in range(2)]
    again = op("copy", [piece(1)], [piece(1, "o")])
    remote = op("get", [there(1)], [piece(0, "s")])
    signals = [op("signal", channels=[0])]
    late = op("wait", channels=[0])
    shared = plan([[share[0][0], signals], [[*share[1][0], late]]])
    shared["gpus"][0]["threadblocks"][1]["channels"][0]["channel_ids"] = [0]
    yield plan([[*share[0], [copies[0]], [copies[1]]], share[1]]), "both use s[0] of GPU 0"
    yield plan([[*share[0], [again]], share[1]]), "both use o[1] of GPU 0"
    yield plan([[*share[0], [remote]], share[1]]), "both use o[1] of GPU 1"
    yield shared, "both use the memory channel to 1 [0] of GPU 0"


@pytest.mark.parametrize(("document", "sentence"), [*races()])
def test_a_plan_whose_blocks_race_is_not_right(tmp_path, capsys, document, sentence):
    status, said = run_of(tmp_path, capsys, document)
    assert (status, sentence in said, "correct      NO" in said) == (1, True, True), said


def test_a_plan_of_what_it_cannot_say_is_not_written(tmp_path, capsys):
    for words in ("exchange ring:4", "gossip fattree:2,2"):
        line = f"schedule export {words} --out {tmp_path}/p.json"
        assert CommandSession(line.split()).run() == 2
        assert "MSCCL++" in capsys.readouterr().err
