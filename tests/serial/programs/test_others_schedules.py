"""Schedules of other tools: Chakra traces, TE-CCL, TACOS, and ForestColl's names of nodes."""

import json

import networkx
import pytest
from serial.programs import schedulefiles as made

from mpinet.cli.session import CommandSession


def varint(number):
    """A whole number in seven bits a byte, the low ones first."""
    number &= (1 << 64) - 1
    parts = []
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])


def piece(field, content):
    """A field of bytes, text, or a number."""
    if isinstance(content, int):
        return varint(field << 3) + varint(content)
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(content)) + content


def attribute(name, value):
    """An attribute of a node: its name, and a number (int32) or a text."""
    return piece(1, name) + piece(29 if isinstance(value, str) else 7, value)


def node(number, kind, needs=(), name="", packed=True, **told):
    """A node of a trace."""
    parts = [piece(1, number), piece(2, name), piece(3, kind)]
    if packed and needs:
        parts.append(piece(5, b"".join(map(varint, needs))))
    else:
        parts += [piece(5, need) for need in needs]
    parts += [piece(10, attribute(*pair)) for pair in told.items()]
    parts.append(varint(6 << 3 | 1) + bytes(8))  # a field that nobody asks for, of eight bytes
    return b"".join(parts)


def trace(nodes, **meta):
    """A file of messages, each with its length before it."""
    first = b"".join(piece(2, attribute(*pair)) for pair in meta.items())
    return b"".join(varint(len(each)) + each for each in [first, *nodes])


SEND, RECEIVE, ADD = 5, 6, 4


def ring_traces(n, chunks=True):
    """A ring allreduce of n chunks: once round adding, once round copying."""
    for g in range(n):
        nodes = []
        for t in range(2 * n - 2):
            goes, comes = (g - t) % n, (g - t - 1) % n
            before = [2 * t - 1] if t else []
            said = {"msg_chunk_idx": goes} if chunks else {}
            nodes.append(node(2 * t, SEND, before, comm_dst=(g + 1) % n, comm_tag=0, **said))
            said = {"msg_chunk_idx": comes, "msg_chunk_cnt": 1} if chunks else {}
            adds = {"is_rrc": 1} if t < n - 1 else {}
            nodes.append(
                node(2 * t + 1, RECEIVE, before, packed=False, comm_src=(g - 1) % n, comm_tag=0,
                     **said, **adds)
            )  # fmt: skip
        yield trace(nodes, collective="allreduce", schema="1.0.2")


def tacos_traces():
    """A path of three by TACOS: chunks are in the names, and the metadata say nothing."""

    def named(number, kind, chunk, ends, needs=()):
        said = {"comm_dst": ends[1]} if kind == SEND else {"comm_src": ends[0]}
        word = "Send" if kind == SEND else "Recv"
        name = f"Node {number}, Chunk: {chunk}, {word}: {ends[0]} -> {ends[1]}"
        return node(number, kind, needs, name, comm_size=1024, comm_tag=0, **said)

    sends = [(0, 0, 1), (1, 1, 0), (1, 1, 2), (2, 2, 1), (0, 1, 2), (2, 1, 0)]
    for rank in range(3):
        nodes, got = [], {}
        for chunk, u, v in sends:
            if rank == v:
                got[chunk] = len(nodes)
                nodes.append(named(len(nodes), RECEIVE, chunk, (u, v)))
            elif rank == u:
                needs = [got[chunk]] if chunk in got else []
                nodes.append(named(len(nodes), SEND, chunk, (u, v), needs))
        yield trace(nodes)


def judged(folder, capsys, name, line, contents=None):
    """Status, result and sentence of a run of a file, or of several of numbered names."""
    for file, content in ({name: contents} if not isinstance(contents, dict) else contents).items():
        data = content.encode() if isinstance(content, str) else content
        (folder / file).write_bytes(data)
    status = CommandSession(["schedule", "run", str(folder / name), *line.split(), "--json"]).run()
    said = capsys.readouterr()
    document = json.loads(said.out)
    return status, document.get("result"), document.get("error", said.err.strip())


def numbered(traces):
    """Traces as files t.0.et, t.1.et, .."""
    return {f"t.{rank}.et": data for rank, data in enumerate(traces)}


def test_traces_of_all_processors_are_one_schedule_whose_data_are_followed(tmp_path, capsys):
    status, result, _ = judged(tmp_path, capsys, "t.2.et", "--on ring:4", numbered(ring_traces(4)))
    assert (status, result["format"], result["collective"]) == (0, "Chakra", "allreduce")
    assert (result["steps"], result["messages"], result["correct"]) == (6, 24, True)
    assert result["races"] == "none"
    files = numbered(ring_traces(4, chunks=False))
    status, result, _ = judged(tmp_path, capsys, "t.0.et", "--on ring:4", files)
    assert (status, result["steps"], result["messages"], result["correct"]) == (0, 6, 24, None)
    assert "races" not in result


def test_traces_of_tacos_say_their_chunks_in_names(tmp_path, capsys):
    files = numbered(tacos_traces())
    line = "--on mesh:3 --collective gossip --ports all"
    status, result, _ = judged(tmp_path, capsys, "t.0.et", line, files)
    assert (status, result["steps"], result["correct"]) == (0, 2, True)


def changed(rank, old, new):
    """The traces of a ring of four, with other bytes in one."""
    files = [*ring_traces(4)]
    assert old in files[rank]
    files[rank] = files[rank].replace(old, new, 1)
    return numbered(files)


BOTH = {
    rank: [node(0, SEND, comm_dst=1 - rank, msg_chunk_idx=0),
           node(1, RECEIVE, comm_src=1 - rank, msg_chunk_idx=0, is_rrc=1)]
    for rank in range(2)
}  # fmt: skip

WRONG = [
    (changed(1, attribute("comm_dst", 2), attribute("comm_dst", 0)), "0 with tag 0, which receiv"),
    (changed(1, attribute("comm_dst", 2), attribute("comm_dst", 1)), "t.1.et, node 0 sends to '1'"),
    (changed(3, piece(3, SEND), piece(3, 7)), "t.3.et, byte 45: node 0 is a whole collective"),
    ({"t.0.et": next(ring_traces(4))[:-3]}, "does not end in the file"),
    ({"t.0.et": trace([node(0, SEND), node(0, SEND)])}, "node 0 appears twice"),
    ({"t.0.et": trace([node(0, SEND, [9], comm_dst=1)]), "t.1.et": trace([])}, "needs node 9, whi"),
    ({"t.0.et": b"\x1f\x8b" + bytes(8)}, "t.0.et, the file is packed by gzip"),
    ({"t.0.et": b"\xff" * 20}, "a number does not end"),
    ({"t.0.et": trace([b"\x07"])}, "a field is of the kind 7"),
    ({"t.0.et": trace([node(0, SEND, [1], comm_dst=1), node(1, RECEIVE, [0], comm_src=1)]),
      "t.1.et": trace([node(0, RECEIVE, [1], comm_src=0), node(1, SEND, [0], comm_dst=0)])},
     "waits for ever"),
]  # fmt: skip


@pytest.mark.parametrize(("files", "sentence"), WRONG)
def test_wrong_traces_are_refused_with_file_and_node(files, sentence, tmp_path, capsys):
    status, _, said = judged(tmp_path, capsys, "t.0.et", "--on ring:4 --ports all", files)
    assert (status, sentence in said, "\n" in said) == (2, True, False), said


def test_a_trace_that_adds_different_chunks_is_not_right(tmp_path, capsys):
    files = changed(2, attribute("msg_chunk_idx", 1), attribute("msg_chunk_idx", 3))
    line = "--on ring:4 --ports all"
    status, result, _ = judged(tmp_path, capsys, "t.0.et", line, files)
    assert (status, result["correct"]) == (1, False)
    assert "o[1] of GPU 0 holds a sum of chunk 1 with 3 of 4 contributions" in result["output"]


def test_a_trace_whose_nodes_race_is_not_right(tmp_path, capsys):
    files = {f"t.{rank}.et": trace(each, collective="allreduce") for rank, each in BOTH.items()}
    status, result, _ = judged(tmp_path, capsys, "t.0.et", "--on complete:2 --ports all", files)
    assert (status, result["correct"], "both use o[0] of GPU" in result["races"]) == (
        1,
        False,
        True,
    )


def test_a_trace_without_its_neighbours_is_refused(tmp_path, capsys):
    files = {"t.1.et": [*ring_traces(4)][1]}
    status, _, said = judged(tmp_path, capsys, "t.1.et", "--on ring:4", files)
    assert (status, "t.0.et: a trace is a file per processor" in said) == (2, True)


@pytest.mark.parametrize(
    "words",
    [
        "gossip petersen --ports all",
        "allreduce hypercube:3 --items 8 --ports all",
        "reducescatter ring:4",
        "broadcast torus:4x4 --root 5 --bytes 64",
        "reduce ring:6 --items 4 --root 2",
    ],
)
def test_traces_that_are_written_take_no_more_steps_when_they_are_read(words, tmp_path, capsys):
    line = ["schedule", "export", *words.split(), "--out", str(tmp_path / "t.et"), "--json"]
    assert CommandSession(line).run() == 0
    wrote = json.loads(capsys.readouterr().out)["result"]
    ports = " --ports all" if "all" in words.split() else ""
    network = words.split()[1]
    status, result, said = judged(tmp_path, capsys, "t.1.et", f"--on {network}{ports}", {})
    assert status == 0, said
    assert result["correct"] and result["messages"] == wrote["messages"]
    assert result["steps"] <= wrote["steps"]


def flow(chunk, source, *path, epoch=0, volume=""):
    """A flow of TE-CCL: switches stand behind the ends."""
    via = f" via switches {', '.join(map(str, path[1:-1]))}" if len(path) > 2 else ""
    ends = f"{path[0]}->{path[-1]}"
    return f"Chunk {chunk} from {source} traveled over {ends}{volume} in epoch {epoch}{via}"


def teccl(*flows):
    """A schedule of TE-CCL."""
    return json.dumps({"1-Epoch_Duration": 1.0, "3-Epochs_Required": 2, "7-Flows": [*flows]})


PATH = [flow(0, 0, 0, 1), flow(0, 1, 1, 0), flow(0, 1, 1, 2), flow(0, 2, 2, 1),
        flow(0, 2, 1, 0, epoch=1), flow(0, 0, 1, 2, epoch=1)]  # fmt: skip

STAR = [flow(0, u, u, 4, v) for u in (1, 3, 6) for v in (1, 3, 6) if u != v]


def test_flows_of_teccl_go_by_epoch_and_through_switches(tmp_path, capsys):
    line = "--on mesh:3 --ports all"
    status, result, _ = judged(tmp_path, capsys, "t.json", line, teccl(*PATH[::-1]))
    assert (status, result["format"], result["collective"]) == (0, "TE-CCL", "gossip")
    assert (result["steps"], result["lower_bound"], result["correct"]) == (2, 2, True)
    star = networkx.Graph([(u, 4) for u in (1, 3, 6)])
    star.nodes[4]["switch"] = True
    networkx.write_graphml(star, tmp_path / "star.graphml")
    line = f"--on graph:{tmp_path}/star.graphml --ports all"
    status, result, _ = judged(tmp_path, capsys, "t.json", line, teccl(*STAR))
    assert (status, result["messages"], result["correct"]) == (0, 12, True)


TACOS = """NPUs Count,3
Links Count,4
Chunks Count,6
Chunk Size,1024,B
SrcID,DestID,Latency (ns),Bandwidth (GB/s),Chunks
0,1,500,50,0,3
1,0,500,50,1,4,2,5
1,2,500,50,1,0,4,3
2,1,500,50,2,5
"""


def test_tables_of_tacos_have_an_order_on_each_link(tmp_path, capsys):
    line = "--on mesh:3 --ports all"
    status, result, _ = judged(tmp_path, capsys, "t.csv", line, TACOS)
    assert (status, result["format"], result["chunks"]) == (0, "TACOS", 2)
    assert (result["steps"], result["messages"], result["correct"]) == (4, 12, True)


def test_nodes_of_forestcoll_may_have_names_of_several_parts(tmp_path, capsys):
    gpus = [(box, "GPU", number) for box in range(2) for number in (0, 10, 9)]
    switch, star = (-1, "IB"), networkx.Graph()
    star.add_edges_from((str(gpu), str(switch)) for gpu in gpus)
    star.nodes[str(switch)]["switch"] = True
    networkx.write_graphml(star, tmp_path / "star.graphml")
    trees = made.forest(
        [(root, 1, [(root, switch, gpu) for gpu in gpus if gpu != root]) for root in gpus]
    ).replace("), (", "),(")
    for network in (f"graph:{tmp_path}/star.graphml", f"graph:{tmp_path}/numbers.edges"):
        (tmp_path / "numbers.edges").write_text("".join(f"{u} 6\n" for u in range(6)))
        line = f"--on {network} --ports all"
        status, result, said = judged(tmp_path, capsys, "t.xml", line, trees)
        if "numbers" in network:  # the switch is a seventh processor there
            assert (status, said == "") == (2, False)
            continue
        assert (status, result["messages"], result["correct"]) == (0, 36, True), said


REFUSED = [
    ("t.json", teccl(*PATH[:4], flow(0, 2, 1, 0, epoch=0), PATH[5]), "7-Flows[4]: in epoch 0"),
    ("t.json", teccl(flow(0, 0, 0, 1, volume=" with volume 0.5")), "7-Flows[0]: 0.5 of a chunk is"),
    ("t.json", teccl("Chunk 0 went away"), "7-Flows[0]: a flow is 'Chunk c from s"),
    ("t.json", teccl(), "7-Flows: give a list of flows"),
    ("t.json", teccl(*PATH[:2]), "header: chunks of 2 GPUs travel; the network has 3"),
    ("t.csv", TACOS.replace("0,1,500,50,0,3", "0,1,500,50,0,5"), "line 8: chunk 3 never arrives"),
    ("t.csv", TACOS.replace("50,2,5", "50,x"), "line 9: 'x' is not a whole number"),
    ("t.csv", TACOS.replace("Chunks Count,6", "Chunks Count,7"), "header: 7 chunks are not"),
    ("t.xml", made.forest([("(0, a;b)", 1, [])]), "is not a node"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "sentence"), REFUSED)
def test_wrong_schedules_are_refused_with_their_place(name, content, sentence, tmp_path, capsys):
    status, _, said = judged(tmp_path, capsys, name, "--on mesh:3 --ports all", content)
    assert (status, sentence in said, "\n" in said) == (2, True, False), said
