"""A result file of verify is shown again as it was; a damaged one is refused in a sentence."""

import json
from pathlib import Path

import pytest

from mpinet.claims.verdict import lasting
from mpinet.cli.session import CommandSession
from mpinet.report.envelope import digest

OWN = str(Path(__file__).with_name("own.py"))


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A folder with a result file and the page that was made with it."""
    folder = tmp_path_factory.mktemp("measured")
    words = ["verify", OWN, "RING-D", "RING-OFF", "RING-TABLE", "--json"]
    files = ["--out", str(folder / "r.json"), "--html", str(folder / "r.html")]
    assert CommandSession([*words, *files]).run() == 0
    return folder


def test_the_page_of_a_result_file_is_that_of_the_run(measured, tmp_path, capsys):
    capsys.readouterr()
    again = tmp_path / "again.html"
    words = ["verify", "--from", str(measured / "r.json"), "--html", str(again), "--json"]
    assert CommandSession(words).run() == 0
    assert again.read_text() == (measured / "r.html").read_text()
    shown, was = json.loads(capsys.readouterr().out), json.loads((measured / "r.json").read_text())
    for field in ("digest", "result", "summary"):
        assert shown[field] == was[field]


def tampered(document):
    return document["result"][0].update(points=7)


def signed(change):
    """A change of the rows with the digest made anew, as somebody might by hand."""

    def done(document):
        change(document["result"])
        document["digest"] = digest(list(map(lasting, document["result"])))

    return done


DAMAGES = {
    "a row changed": tampered,
    "a row less": lambda document: document["result"].pop(),
    "no digest": lambda document: document.pop("digest"),
    "no list of rows": lambda document: document.update(result={}),
    "a number in the command": lambda document: document.update(command=[1]),
    "an unknown verdict": signed(lambda rows: rows[0].update(verdict="maybe")),
    "no witness": signed(lambda rows: rows[1].update(witness=None)),
    "a witness without a point": signed(lambda rows: rows[1].update(witness={})),
    "no field of this version": signed(lambda rows: rows[0].pop("note")),
    "values of another kind": signed(lambda rows: rows[0].update(values=[3])),
    "a row that is no object": signed(lambda rows: rows[0].clear()),
    "no rows": signed(lambda rows: rows.clear()),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_document_is_refused(damage, measured, tmp_path, capsys):
    document = json.loads((measured / "r.json").read_text())
    DAMAGES[damage](document)
    refuse(json.dumps(document), tmp_path, capsys)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "\x00", "[" * 100_000, '{"result": [NaN]}']
)
def test_what_is_no_document_is_refused(text, tmp_path, capsys):
    refuse(text, tmp_path, capsys)


def refuse(text, folder, capsys):
    """The file is refused in one sentence, and no page is written."""
    capsys.readouterr()
    file, page = folder / "d.json", folder / "d.html"
    file.write_text(text)
    assert CommandSession(["verify", "--from", str(file), "--html", str(page)]).run() == 2
    said = capsys.readouterr().err
    assert said.startswith(f"mpinet: --from {file}: ") and said.count("\n") == 1
    assert not page.exists()


@pytest.mark.parametrize(
    "words",
    ["hdn", "--budget full", "--at n=3", "--journal j", "--list"],
)
def test_what_would_have_no_effect_is_refused(words, measured, capsys):
    assert CommandSession(["verify", "--from", str(measured / "r.json"), *words.split()]).run() == 2
    assert "--from" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_told(capsys):
    assert CommandSession(["verify", "--from", "nowhere.json"]).run() == 2
    assert "nowhere.json: No such file" in capsys.readouterr().err
