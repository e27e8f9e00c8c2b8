"""The report's PDF needs a browser, and says so before anything is built."""

import shutil
import subprocess

import pytest
from launch.conftest import CHECKOUT


@pytest.fixture
def bare_path(tmp_path):
    """A PATH without a browser."""
    for program in ("bash", "dirname"):
        (tmp_path / program).symlink_to(shutil.which(program))
    return str(tmp_path)


@pytest.mark.parametrize("option", ["--pdf", "--report"])
def test_without_a_browser_a_pdf_is_refused_in_a_sentence(option, bare_path):
    command = [shutil.which("bash"), str(CHECKOUT / "launch" / "docs"), option]
    done = subprocess.run(command, env={"PATH": bare_path}, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "launch/docs: --pdf and --report print with chromium, which is not there"
    )


@pytest.mark.parametrize("words", [["--ledger"], ["--paper"]])
def test_words_that_docs_does_not_know_are_refused(words):
    done = subprocess.run([CHECKOUT / "launch/docs", *words], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
