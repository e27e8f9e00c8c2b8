"""The machine that users get is the one that everything inside uses; programs are given to it."""

import subprocess
import sys

import mpinet
from mpinet.machine import Machine


def test_there_is_one_class_of_machines():
    assert mpinet.Machine is Machine
    assert Machine("ring:3").run(lambda node: 2 * node.id).values == [0, 2, 4]


def test_a_machine_without_the_room_of_programs_says_what_to_import():
    script = "from mpinet.machine import Machine\nMachine('ring:3').run(print)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == (
        "mpinet.errors.UsageError: Programs need mpinet.process: import it, or use mpinet.Machine."
    )
