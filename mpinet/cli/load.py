"""``mpinet load``: latency and throughput under open-loop traffic."""

from __future__ import annotations

import argparse

from mpinet.cli.options import add_checkpoint, add_common, add_mapping, add_memory, number
from mpinet.commands.load import prepare as prepare


def add_options(parser: argparse.ArgumentParser) -> None:
    """The networks, the traffic, the router, and what is measured."""
    from mpinet.programs.patterns import NAMES

    parser.add_argument(
        "topology",
        metavar="TOPO",
        nargs="+",
        help="networks, such as torus:8x8x8 (see: mpinet topologies)",
    )
    traffic = parser.add_argument_group("traffic")
    shown = NAMES.replace("%", "%%")
    traffic.add_argument(
        "--pattern",
        metavar="PATTERN",
        default="uniform",
        help=f"{shown}; or several of them, P,Q,.. (default uniform)",
    )
    traffic.add_argument(
        "--rate",
        metavar="RATE",
        default="0.02..0.2/10",
        help="messages of a processor a step: R, A,B,C or A..B/K, K rates from A to B "
        "(default 0.02..0.2/10)",
    )
    traffic.add_argument(
        "--flits",
        metavar="F",
        default="1",
        help="flits of a message: F, or F1:p1,F2:p2 (default 1)",
    )
    traffic.add_argument(
        "--bursts", metavar="B[:Q]", help="mean steps of a burst, and the rate while it is on"
    )
    traffic.add_argument("--routing", metavar="NAME", help="a routing of the networks")
    traffic.add_argument(
        "--faults", metavar="FAULTS", help="a file, or node:U,link:U-V,..: what is dead"
    )
    router = parser.add_argument_group("router")
    router.add_argument(
        "--switching",
        choices=("saf", "vct", "wormhole"),
        default="wormhole",
        help="store and forward, virtual cut-through, or wormhole (default wormhole)",
    )
    router.add_argument(
        "--buffers",
        type=number,
        metavar="B",
        default=4,
        help="flits that the buffer of a virtual channel holds; 0: without limit (default 4)",
    )
    router.add_argument(
        "--vcs", type=number, metavar="V", default=2, help="virtual channels of a link (default 2)"
    )
    router.add_argument(
        "--policy",
        choices=("rotating", "oldest", "fifo"),
        default="rotating",
        help="who is granted an output (default rotating)",
    )
    router.add_argument(
        "--classes",
        choices=("none", "dateline", "wrap", "hops", "own"),
        help="classes of channels (default: the routing's own, the network's datelines, or none)",
    )
    router.add_argument(
        "--crossbar",
        choices=("one", "all"),
        default="one",
        help="flits that leave an input port in a step: one, or one a lane (default one)",
    )
    router.add_argument(
        "--eject",
        choices=("one", "all"),
        default="one",
        help="flits that a processor takes in a step (default one)",
    )
    router.add_argument(
        "--link-delay",
        type=number,
        metavar="D",
        default=1,
        help="steps that a flit takes over a link (default 1)",
    )
    window = parser.add_argument_group("window")
    for names, default, what in (
        (("--warmup", "--warm-up"), 500, "steps before the window"),
        (("--steps", "--measure"), 1000, "steps of the window"),
        (("--limit",), 5000, "steps that the window's messages are waited for"),
    ):
        window.add_argument(
            *names,
            type=number,
            metavar="STEPS",
            default=default,
            help=f"{what} (default {default})",
        )
    curves = parser.add_argument_group("curves")
    curves.add_argument(
        "--seeds",
        type=number,
        metavar="K",
        default=1,
        help="a curve for each of K seeds, from --seed on (default 1)",
    )
    curves.add_argument(
        "--plot",
        metavar="FILE",
        help="draw latency over rate: .pdf, .svg or .png. (--out FILE.jsonl keeps curves as they "
        "come, in FILE.jsonl.runs, and goes on from there)",
    )
    add_mapping(parser)
    add_memory(parser)
    add_checkpoint(parser)
    add_common(parser)
