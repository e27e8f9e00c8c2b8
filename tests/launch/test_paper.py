"""The PDF of the paper, made by programs from the package registry."""

import re
import subprocess
import sys

import pytest
from launch.conftest import CHECKOUT
from launch.debian import run

pytestmark = pytest.mark.long

READ = """
import sys
from pypdf import PdfReader
for page in PdfReader(sys.argv[1]).pages:
    print(page.extract_text(), end="\\f")
"""


def test_the_paper_becomes_a_pdf_with_all_sections_and_references(tmp_path):
    run(sys.executable, "-m", "venv", tmp_path / "tools")
    python = tmp_path / "tools/bin/python"
    run(python, "-m", "pip", "install", "--quiet", "pypandoc-binary", "typst", "pypdf")
    made = tmp_path / "paper.pdf"
    run(python, CHECKOUT / "docs/paper/make.py", made)
    done = subprocess.run([python, "-c", READ, made], capture_output=True, text=True, check=True)
    pages = done.stdout.split("\f")[:-1]
    assert 2 <= len(pages) <= 4
    text = " ".join(done.stdout.split())
    assert "mpinet developers" in pages[0] and "message-passing machines" in pages[0]
    source = (CHECKOUT / "docs/paper/paper.md").read_text()
    headings = re.findall(r"(?m)^# (.+)$", source)
    assert len(headings) > 6 and [each for each in headings if each not in text] == []
    # A citation without an entry is printed as its key with a question mark.
    assert not re.search(r"\w+\d{4}\?", text)
    written = (CHECKOUT / "docs/paper/paper.bib").read_text()
    shown = "".join(done.stdout.split())
    identifiers = re.findall(r"doi += \{(.+?)\}", written)
    assert len(identifiers) > 12
    assert [each for each in identifiers if each not in shown] == []
    assert "1,987 of the 1,994" in text
