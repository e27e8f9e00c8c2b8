"""Which tests `launch/test --near` runs: those that depend on what has changed."""

import subprocess

import pytest
from near import changed_files, near_tests

FILES = {
    "mpinet/__init__.py": "",
    "mpinet/__init__.pyi": "from mpinet.commands.route import route as route\n"
    "from mpinet.ring import open as open\n",
    "mpinet/ring.py": "",
    "mpinet/machine/step.py": "from mpinet.ring import Ring",
    "mpinet/commands/route.py": "def route():\n    from mpinet.machine import step",
    "mpinet/catalogue.py": 'FAMILIES = {"torus": "mpinet.torus:Torus"}',
    "mpinet/torus.py": "",
    "tests/serial/families.py": "import mpinet.catalogue",
    "tests/serial/test_ring.py": "import mpinet\nmpinet.open('x')",
    "tests/serial/machine/test_plan.py": "",
    "tests/mpi/test_route.py": "import mpinet\nmpinet.route('x')",
    "tests/serial/test_table.py": "from serial.families import LISTED",
    "tests/serial/test_name.py": "NAME = 'torus:3x3'",
    "tests/serial/test_docs.py": "",
}


@pytest.fixture
def checkout(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_test_is_as_near_as_its_imports_of_the_changed_file_are_few(checkout):
    assert near_tests(checkout, ["mpinet/ring.py"]) == {
        "tests/serial/test_ring.py": 1,
        "tests/mpi/test_route.py": 3,  # by the command's route, within a function, and the step
    }


def test_a_test_of_the_changed_room_is_near_without_imports(checkout):
    near = near_tests(checkout, ["mpinet/machine/step.py"])
    assert near == {"tests/serial/machine/test_plan.py": 2, "tests/mpi/test_route.py": 2}


def test_a_table_of_names_and_a_name_in_a_test_lead_to_the_test(checkout):
    near = near_tests(checkout, ["mpinet/torus.py"])
    assert near == {"tests/serial/test_name.py": 1, "tests/serial/test_table.py": 3}


def test_a_changed_page_is_tested_by_those_who_read_pages(checkout):
    assert near_tests(checkout, ["docs/model.md"]) == {"tests/serial/test_docs.py": 2}


def test_files_that_differ_and_new_files_are_changed(checkout):
    def git(*words):
        subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", *words],
                       cwd=checkout, check=True, capture_output=True)  # fmt: skip

    git("init")
    git("add", ".")
    git("commit", "-m", "Begin")
    (checkout / "mpinet/ring.py").write_text("SIZE = 1")
    (checkout / "mpinet/new.py").write_text("")
    assert changed_files(checkout, "HEAD") == {"mpinet/ring.py", "mpinet/new.py"}
    with pytest.raises(ValueError, match="nosuch"):
        changed_files(checkout, "nosuch")
