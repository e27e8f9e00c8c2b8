"""Command lines as people, scripts and attackers type them: right ones and wrong ones."""

import argparse
from random import Random

from inputfiles import FILES

import mpinet
from mpinet.cli.parser import add_options
from mpinet.commands import catalogue, function_of
from mpinet.networks.catalogue import families
from mpinet.networks.topology import Topology

UNSUITED = ("launch", "demo", "doctor", "resume")
"""Commands without right lines: they start jobs of their own, or need a run that was stopped."""

COMMANDS = [command for command in catalogue.COMMANDS if command not in UNSUITED]

NETWORKS = [family.example for family in families() if family.name != "graph"]

SMALL = [
    "ring:8", "hypercube:4", "torus:3x4", "mesh:2x3", "complete:5", "ccc:3", "debruijn:4",
    "fattree:2,3", "lens:2,2,2", "hdn:2x3,super=0.1/0.1", "gmn:32", "bsn:1,2,4", "ring:4*mesh:2x2",
]  # fmt: skip

HOSTILE = [
    "", " ", "-", "--", "0", "-1", "²", "٣", "1.5", "nan", "inf", "1e999", "0x10", "9" * 30,
    "9" * 5000, str(2**31), str(2**63), str(2**64), "a" * 5000, "\udcff", "é", "\n", "'", '"', "%s",
    "{}", "*", "ring", ":", "::", ",", "=", "node:", "link:", "link:0-", "node:0,link:0-1",
    "random:0", "random:5", "hotspot:0", "hotspot:99", "all", "0,1", "[[[[", "x=1", "x=[",
    "/dev/null", "/dev/zero", "/", ".", "..", "no/such.csv", "a.json", "a.csv", "a.txt", "shift:-5",
]  # fmt: skip

MIDDLE = [
    "ring:100", "hypercube:7", "torus:12x12", "mesh:10x10", "debruijn:7", "gmn:72", "sth:2,3",
    "foldedcube:6", "lens:3,3,2", "multistage:omega,4", "hypercube:4*ring:8", "stargraph:5",
]  # fmt: skip

HUGE = [
    f"ring:{2**40}", "hypercube:40", f"torus:{2**20}x{2**20}", f"complete:{2**30}", "debruijn:36",
    f"mesh:{2**40}x2", "ccc:34", f"ring:{2**20}*hypercube:20", "foldedcube:40", "lens:3,2,20",
]  # fmt: skip

FEWEST_VALID = 0.4
"""The share of lines that have a result: a fault behind what is checked first is found by these."""

PREDICTED = ("route", "flood", "broadcast", "ascend", "descend")

COLLECTIVES = ("ascend", "descend", "circulate", "gossip", "scatter", "gather", "reduce")

HALVING = ("circulate", "ascend", "descend")

POWERS = ["hypercube:3", "hypercube:6", "ccc:4", "mesh:4x4", "torus:4x8"]
"""Networks of 2^q processors, as `HALVING` needs them."""

OPERATORS = ["sum", "prefix", "fft", "bitonic-sort", "bitonic-merge", "shift:3", "transpose:4x4"]

OPERATED = {
    "ascend": ["prefix", "fft", "shift:3", "transpose:4x4"],
    "descend": ["fft", "bitonic-sort", "bitonic-merge", "shift:3"],
}
"""Operators in the form that a command runs."""

EMBEDDED = [
    ("ring:8", "hypercube:3"), ("ring:16", "torus:4x4"), ("hypercube:3", "mesh:2x4"),
    ("mesh:3x3", "hypercube:4"), ("hypercube:4", "ccc:4"), ("complete:5", "complete:5"),
]  # fmt: skip

CLAIMED = [
    ["--list"], ["hdn", "--list"], ["GMN-T1-*", "--list"], ["claims.py"], ["OWN-1", "claims.py"],
    ["GBSN-S3-degree-bsn", "--budget", "quick"], ["claims.py", "--at", "n=4"],
]  # fmt: skip

MEASURED = [
    ["diameter"], ["average_distance"], ["eccentricity", "node=1"], ["distance_profile", "node=0"],
    ["bisection"], ["connectivity"], ["edge_connectivity"], ["biconnected"], ["degrees"],
    ["orbits"], ["transitive"], ["loads"], ["broadcast_bound"], ["components"], ["edges"],
    ["hamiltonian_cycle"], ["deadlock"], ["fault_diameter", "faults=1"],
]  # fmt: skip

OPTIMAL = ["ring:4", "ring:5", "mesh:2x3", "complete:4", "hypercube:3"]
"""Networks whose optima are found at once."""

SCHEDULED = (
    *("broadcast", "gossip", "scatter", "gather", "exchange"),
    *("reduce", "allreduce", "reducescatter"),
)

UNCOMMON = {
    "sweep": ["--json"],
    "schedule export": ["--json"],
    "schedule generate": ["--json"],
    "template": [],
}
"""Commands that have not all of ``--json``, ``--out`` and ``--seed``, with what they have."""

ENDLESS = ("bench", "verify")
"""Commands that take minutes, unless the last word of a line is what to list or to judge."""

PROGRAM = "mpinet.examples.flood:flood"


def line(random: Random) -> list[str]:
    """One command line: as often meant to be right as of any kind."""
    if random.random() < 0.6:
        return right(random, random.choice(COMMANDS))
    command = random.choice(list(catalogue.COMMANDS))
    words = [*command.split(), *arguments(random, command)]
    free = len(words) - (command in ENDLESS)
    if random.random() < 0.1:
        words[random.randrange(free)] = random.choice(HOSTILE)
    if random.random() < 0.05:
        del words[random.randrange(free)]
    return [word.replace("\0", "") for word in words]


def right(random: Random, command: str) -> list[str]:
    """A line whose arguments are of the kinds, and in the ranges, that the command asks for."""
    words = [*command.split(), *RIGHT.get(command, of_a_network)(random, command)]
    common = UNCOMMON.get(command, ["--json", "--out", "--seed"])
    if random.random() < 0.3 and "--json" in common:
        words += ["--json"]
    if random.random() < 0.1 and "--out" in common:
        words += ["--out", f"out.{random.choice(['json', 'csv'])}"]
    if random.random() < 0.2 and "--seed" in common:
        words += ["--seed", random.choice(["1", "7", str(2**63 - 1)])]
    if command == "exec":
        words += right_script(random)
    return words


def of_a_network(random: Random, command: str) -> list[str]:
    """The arguments of most commands: a network, a node or two of it, a few options."""
    text = right_network(random, command)
    topology = mpinet.open(text)
    words = [text]
    if command == "show" and random.random() < 0.5:
        words += random.choice([["--distances"], ["--mapping", "clusters"], ["--edges", "e.txt"]])
    if command in ("neighbors", "path"):
        words += [right_node(random, topology) for _ in range(1 + (command == "path"))]
    if command == "route":
        words += right_traffic(random, topology)
    if command in ("path", "route", "exchange") and random.random() < 0.5:
        words += ["--routing", random.choice(list(topology.routings))]
    if command in ("flood", "broadcast", "scatter", "gather", "reduce") and random.random() < 0.7:
        words += ["--root", right_node(random, topology)]
    if command in ("ascend", "descend"):
        words += ["--operator", random.choice(["sum", *OPERATED[command]])]
    if command == "reduce":
        words += ["--operator", random.choice(["min", "max", "sum"])]
    if command == "circulate" and random.random() < 0.5:
        words += ["--dimensions", random.choice("12")]
    if command not in ("show", "check", "neighbors", "path"):
        words += right_machine(random, command)
    return words


def right_network(random: Random, command: str) -> str:
    """A network: small, of any family, of the middle, or as large as rules without tables allow."""
    if command in COLLECTIVES and random.random() < (0.9 if command in HALVING else 0.4):
        return random.choice(POWERS)
    least = 0.4 if command in ("neighbors", "path", "show") else 0.1
    if random.random() < least:
        return random.choice(HUGE)
    return random.choice(random.choice([SMALL, SMALL, NETWORKS, MIDDLE]))


def right_node(random: Random, topology: Topology) -> str:
    """A processor, by its number or by its address."""
    node = random.choice([0, topology.hosts - 1, random.randrange(topology.hosts)])
    return random.choice([str(node), topology.address(node)])


def right_traffic(random: Random, topology: Topology) -> list[str]:
    """Options of ``route``."""
    patterns = ["permutation", "randperm", "random:50", "pairs.csv", "all", "complement"]
    words = ["--pairs", random.choice([*patterns, f"hotspot:{random.randrange(topology.hosts)}"])]
    options = [["--mode", "ideal"], ["--policy", "fifo"], ["--paths"], ["--no-loads"]]
    faults = [["--faults", random.choice(["node:1", "link:0-1", "dead.txt"])]]
    for option in [*options, *faults]:
        words += option if random.random() < 0.15 else []
    return words


def right_machine(random: Random, command: str) -> list[str]:
    """Options of a machine."""
    words = []
    if command in ("route", "run", "exec") and random.random() < 0.3:
        words += ["--ports", random.choice(["one", "all"])]
    if random.random() < 0.15:
        words += ["--duplex", random.choice(["full", "half"])]
    if random.random() < 0.15:
        words += ["--mapping", random.choice(["blocks", "clusters", "random"])]
    return words


def right_prediction(random: Random, _: str) -> list[str]:
    """A command, what it takes, and a rank of many."""
    command = random.choice(PREDICTED)
    words = [word for word in of_a_network(random, command) if word != "--paths"]
    ranks = random.choice([1, 2, 3, 8])
    return [command, *words, "--ranks", str(ranks), "--rank", str(random.randrange(ranks))]


def right_embedding(random: Random, command: str) -> list[str]:
    """A guest and a host that are large enough for each other."""
    guest, host = random.choice(EMBEDDED)
    words = [guest, host, *right_machine(random, command)]
    if guest.startswith("hypercube") and random.random() < 0.5:
        words += ["--program", random.choice(["ascend", "descend"]), "--operator", "sum"]
    if random.random() < 0.3:
        size = mpinet.open(guest).hosts
        words += [
            "--images",
            random.choice(["identity", ",".join(map(str, reversed(range(size))))]),
        ]
    return words


def right_program(random: Random, command: str) -> list[str]:
    """A program of the examples or of one's own, and a network."""
    text = random.choice(["greeting", "nothing", "routed", "greeting", "waits", "odd", "wrong"])
    program = random.choice([PROGRAM, "mpinet.examples.election:election", f"own.py:{text}"])
    words = [program, "--on", random.choice(SMALL + MIDDLE), *right_machine(random, command)]
    if text == "greeting" and program.endswith(text):
        words += random.choice([[], ["--arg", "word=é"], ["--arg", "x", "--arg", "port=1"]])
    return words


def right_execution(random: Random, command: str) -> list[str]:
    """A network, and how a script's messages move."""
    words = ["--on", random.choice(SMALL), *right_machine(random, command)]
    for name, values in (
        ("packet", ["8", "4096"]),
        ("sends", ["buffered", "synchronous"]),
        ("collectives", ["tree", "exchange", "binomial", "direct"]),
    ):
        words += [f"--{name}", random.choice(values)] if random.random() < 0.3 else []
    return words


def right_script(random: Random) -> list[str]:
    """What ``exec`` runs; nothing of mpinet's own stands behind it."""
    code = "from mpi4py import MPI; print(MPI.COMM_WORLD.rank)"
    return random.choice([["script.py"], ["script.py", "a"], ["-c", code], ["waits.py"]])


def right_claims(random: Random, _: str) -> list[str]:
    """Claims that take no time, or a file, and what may stand behind them."""
    words = list(random.choice(CLAIMED))
    if "--list" not in words:
        words += random.choice([[], ["--journal", "journal"], ["--html", "page.html"]])
    return words


def some(random: Random, options: list[list[str]], share: float = 0.3) -> list[str]:
    """A few of these options."""
    return [word for option in options if random.random() < share for word in option]


def right_picture(random: Random, _: str) -> list[str]:
    """A network, where its picture goes, and what is shown over it."""
    text = random.choice(SMALL)
    topology = mpinet.open(text)
    shown = [
        ["--path", *(right_node(random, topology) for _ in range(2))],
        ["--routes", "permutation"],
        ["--loads", random.choice(["all", "random:9"])],
        ["--label", random.choice(["none", "number", "address"])],
        ["--routing", random.choice(list(topology.routings))],
    ]
    picture = f"picture.{random.choice(['html', 'html', 'svg', 'png'])}"
    return [text, "-o", picture, *some(random, shown)]


def right_comparison(random: Random, _: str) -> list[str]:
    """Networks, what is compared, and how it is printed."""
    columns = ["processors", "degree", "diameter", "bisection"]
    options = [
        ["--only", ",".join(random.sample(columns, 2))],
        ["--format", random.choice(["table", "csv", "latex"])],
        ["-o", "compared.txt"],
    ]
    return [*random.sample(SMALL, random.choice([1, 2])), *some(random, options, 0.6)]


def right_search(random: Random, _: str) -> list[str]:
    """How many processors networks of a few families are to have."""
    words = ["--processors", random.choice(["16", "60..64", "16..32"])]
    words += ["--families", random.choice(["ring,torus", "hypercube,mesh,ccc", "debruijn"])]
    minimised = random.choice(["diameter", "average,links", "cost"])
    return words + some(random, [["--degree", "..6"], ["--minimise", minimised], ["--best", "3"]])


def right_measure(random: Random, _: str) -> list[str]:
    """A network and one thing of it."""
    return [random.choice(SMALL), *random.choice(MEASURED)]


def right_load(random: Random, _: str) -> list[str]:
    """Networks, and traffic and routers for a short window."""
    words = [*random.sample(SMALL, random.choice([1, 1, 2])), "--warmup", "20", "--steps", "50"]
    options = [
        ["--pattern", random.choice(["uniform", "permutation", "neighbour", "hotspot:1,20"])],
        ["--flits", random.choice(["4", "1:0.5,8:0.5"])],
        ["--bursts", "5"],
        ["--switching", random.choice(["saf", "vct", "wormhole"]), "--buffers", "8"],
        ["--policy", random.choice(["rotating", "oldest", "fifo"])],
        ["--vcs", "4"],
        ["--crossbar", "all"],
        ["--eject", "all"],
        ["--link-delay", "2"],
        ["--seeds", "2"],
        ["--mapping", random.choice(["blocks", "clusters", "random"])],
    ]
    return [
        *words,
        "--rate",
        random.choice(["0.05", "0.02,0.1", "0.1..0.3/2"]),
        *some(random, options),
    ]


def right_optimum(random: Random, _: str) -> list[str]:
    """What is to be the best, and a network small enough to prove it."""
    wanted = random.choice([*SCHEDULED, "bisection"])
    options = [["--save", "saved.json"]]
    if wanted != "bisection":
        options += [["--ports", random.choice(["one", "all"])], ["--schedule", "saved.csv"]]
    return [wanted, random.choice(OPTIMAL), *some(random, options)]


def right_certificate(random: Random, _: str) -> list[str]:
    """A certificate, and the network that it is about."""
    return [random.choice(["steps.json", "links.json"]), *some(random, [["--on", "ring:4"]])]


def right_export(random: Random, _: str) -> list[str]:
    """A collective whose schedule is written."""
    file = f"exported.{random.choice(['csv', 'npz', 'xml', 'goal'])}"
    return [random.choice(SCHEDULED), random.choice(SMALL), "--out", file]


def right_generation(random: Random, _: str) -> list[str]:
    """A textbook's collective, and the file of its program."""
    name = random.choice(["allreduce:ring", "broadcast:chain", "alltoall:bruck"])
    segment = random.choice(["", ",segment=100"])
    return [f"{name},1kB,processors={random.randrange(1, 6)}{segment}", "--out", "made.goal"]


def right_schedule(random: Random, command: str) -> list[str]:
    """A file to be run or checked."""
    words = [random.choice(["four.csv", "four.goal"])]
    if random.random() < 0.3:
        return [*words, "--on", "hypercube:2", "--route"]
    return [*words, "--on", "ring:4", *right_machine(random, command)]


def right_plot(random: Random, _: str) -> list[str]:
    """Curves of a file, and how they are drawn."""
    options = [
        ["--by", "topology"],
        ["--panels", "topology"],
        ["--log", random.choice(["x", "y", "x,y"])],
        ["--where", "topology=a"],
        ["--y-label", "latency (steps)"],
    ]
    drawn = random.choice([["--json"], ["-o", "curves.svg"]])
    words = ["curves.jsonl", "--x", "rate", "--y", "latency", "--error", "seed"]
    return [*words, *drawn, *some(random, options)]


def right_trace(random: Random, _: str) -> list[str]:
    """A recording, and where its trace goes."""
    kind, ending = random.choice([("perfetto", "json"), ("paje", "paje"), ("csv", "csv")])
    return ["moves.csv", "--as", kind, "-o", f"trace.{ending}"]


def right_template(random: Random, _: str) -> list[str]:
    """A template, printed or written to a new file."""
    name = random.choice(["slurm", "pbs", "openmpi-hosts", "mpich-hosts", "slurm-hosts"])
    return [name, *some(random, [["-o", f"template.{random.randrange(1 << 30)}"]])]


RIGHT = {
    "topologies": lambda random, command: [],
    "draw": right_picture,
    "compare": right_comparison,
    "find": right_search,
    "measure": right_measure,
    "load": right_load,
    "optimum": right_optimum,
    "certify": right_certificate,
    "schedule run": right_schedule,
    "schedule check": right_schedule,
    "schedule export": right_export,
    "schedule generate": right_generation,
    "sweep": lambda random, command: ["floods.toml", "--out", random.choice(["runs", "others"])],
    "plot": right_plot,
    "trace": right_trace,
    "play": lambda random, command: ["moves.csv", "-o", "moves.html"],
    "template": right_template,
    "predict": right_prediction,
    "embed": right_embedding,
    "run": right_program,
    "exec": right_execution,
    "verify": right_claims,
    "bench": lambda random, command: random.choice([["--list"], ["w1", "--list"]]),
}
"""What makes the arguments of commands that take more than a network."""


def arguments(random: Random, command: str) -> list[str]:
    """What follows a command: its own options, read off its parser, with values of all kinds."""
    parser = argparse.ArgumentParser()
    if command == "predict":
        predicted = random.choice(PREDICTED)
        rest = arguments(random, predicted)
        return [predicted, *rest, "--ranks", random.choice(["2", "5", *HOSTILE])]
    add_options(parser, function_of(command))
    words, script = [], []
    if command in ENDLESS:
        script = ["--list"] if command == "bench" or random.random() < 0.5 else ["claims.py"]
    for action in parser._actions:
        if action.dest in ("help", "module", "code", "list"):
            continue
        if command == "verify" and action.dest == "claims" and "--list" not in script:
            continue
        if action.dest == "script":
            script = ["-c", random.choice(["pass", "import mpi4py.MPI", "print(1)", "raise 5"])]
        elif not action.option_strings:
            words.append(value(random, action))
        elif action.required or random.random() < 0.15:
            words.append(random.choice(action.option_strings))
            if action.nargs != 0 and not isinstance(action, argparse.BooleanOptionalAction):
                words.append(value(random, action))
    return words + script


def value(random: Random, action: argparse.Action) -> str:
    """A value of an option or a place: most often one that is allowed."""
    if random.random() < 0.1:
        return random.choice(HOSTILE)
    if action.choices:
        return random.choice(list(map(str, action.choices)))
    if action.dest in ("topology", "guest"):
        return network(random)
    if action.dest == "program" and not action.choices:
        return random.choice([PROGRAM, *(f"{name}:nothing" for name in FILES)])
    if action.dest == "operator":
        return random.choice(OPERATORS)
    return str(random.choice([0, 1, 2, 3, 7, 64, *HOSTILE, *FILES]))


def network(random: Random) -> str:
    """A topology string: an example, a small one, or one of these with a few characters changed."""
    text = random.choice(random.choice([SMALL, SMALL, NETWORKS, MIDDLE, HUGE]))
    if random.random() < 0.15:
        text = f"{text}*{random.choice(SMALL)}"
    for _ in range(random.choice([0, 0, 0, 1, 1, 3])):
        text = changed(random, text)
    return text


def changed(random: Random, text: str) -> str:
    """A text with one place of it changed."""
    at = random.randrange(len(text) + 1)
    put = random.choice(["", *"0123456789:,=*x-.", "99", "²", random.choice(HOSTILE)])
    return text[:at] + put + text[at + random.choice([0, 1]) :]
