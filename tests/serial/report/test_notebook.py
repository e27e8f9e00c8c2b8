"""Results in a notebook: what they print, as HTML, with a picture; errors are one sentence."""

import re
from html import unescape

import nbformat
import pytest
from nbclient import NotebookClient

import mpinet
from mpinet.errors import MpinetError, UsageError
from mpinet.report.html import printed
from mpinet.report.tables import table

CELLS = [
    "import mpinet",
    'mpinet.load("ring:8", "mesh:2x4", rate=[0.1, 0.2], warmup=20, steps=50)',
    'mpinet.route("torus:4x4", pairs="transpose")',
    'mpinet.compare("ring:16", "hypercube:4", only="diameter,links")',
    'mpinet.broadcast("tors:4")',
    'mpinet.flood("ring:6").play()',
]


def executed() -> list:
    """What each cell shows when a kernel has run the notebook."""
    cells = [nbformat.v4.new_code_cell(cell) for cell in CELLS]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=300, allow_errors=True, kernel_name="python3").execute()
    return [cell.outputs for cell in notebook.cells]


def words(page: str) -> list[str]:
    """The words of a page's text."""
    return unescape(re.sub(r"<svg.*?</svg>|<[^>]*>", " ", page, flags=re.S)).split()


def test_an_executed_notebook_shows_curves_loads_rows_one_sentence_and_the_player():
    _, load, route, compare, error, play = executed()
    curves, drawn, rows, page = (each[-1]["data"]["text/html"] for each in (
        load, route, compare, play,
    ))  # fmt: skip
    assert curves.count("<svg") == 1 and "mesh:2x4" in curves and "latency" in words(curves)
    assert drawn.count("<svg") == 1 and "transpose" in drawn
    assert "<svg" not in rows and "diameter" in rows and "hypercube:4" in rows
    assert page.startswith("<iframe srcdoc=") and "flood on ring:6" in page
    (shown,) = error
    (line,) = shown["traceback"]
    assert line.startswith("TopologyError: There is no topology 'tors': did you mean torus?")


@pytest.mark.parametrize(
    "found",
    [
        lambda: mpinet.flood("ring:6"),
        lambda: mpinet.compare("ring:4", "mesh:2x3", only=["degree", "links"]),
        lambda: mpinet.find(processors=(8, 9), degree=3, best=2),
        lambda: mpinet.broadcast("hypercube:3"),
        lambda: mpinet.neighbors("mesh:3x3", 0),
    ],
)
def test_a_card_has_the_words_that_are_printed(found):
    result = found()
    lines = re.sub(r"^[- ]+$", "", str(result), flags=re.MULTILINE)
    shown = words(result._repr_html_())
    assert shown[-len(lines.split()) :] == lines.split()
    assert result.digest in shown


def test_tables_on_a_page_have_their_cells_as_they_are_and_text_is_escaped():
    page = printed(lambda: f"a < b\n{table([['<i>', 1], ['x', 20]], ['name', 'n'])}\nend")
    assert "a &lt; b" in page and "&lt;i&gt;" in page and "<i>" not in page
    assert page.count("<tr>") == 3 and page.count("text-align:right") == 3
    assert "---" in table([["x", 1]], ["name", "n"])  # and text is text again


def test_a_program_of_the_users_is_not_run_again_for_a_picture():
    ran = []

    def program(node):
        ran.append(node.id)
        yield from ()

    mpinet.run(program, on="ring:4")._repr_html_()
    assert len(ran) == 4


def test_a_large_run_is_not_made_again_for_a_picture():
    assert "<svg" not in mpinet.flood("hypercube:10")._repr_html_()


def test_rows_are_a_data_frame_and_documents_are_copies():
    found = mpinet.load("ring:8", rate=[0.1, 0.2], warmup=20, steps=50)
    frame = found.to_frame()
    assert frame["rate"].tolist() == [0.1, 0.2]
    assert frame["latency_mean"].tolist() == [p.latency_mean for p in found.curves[0].points]
    found.to_dict()["result"]["curves"].clear()
    assert len(found.curves) == 1


def test_what_has_no_curves_or_movements_says_so():
    with pytest.raises(UsageError, match="flood has no curves: name columns"):
        mpinet.flood("ring:6").plot()
    with pytest.raises(UsageError, match="load records no movements"):
        mpinet.load("ring:8", rate=0.1, warmup=20, steps=50).draw()


def test_a_plot_is_written_where_it_is_wanted(tmp_path):
    rows = mpinet.sweep({"command": "flood", "topology": ["ring:8", "ring:16"]})
    assert rows.plot(tmp_path / "steps.svg", x="topology", y="steps") == ""
    assert "<svg" in (tmp_path / "steps.svg").read_text()


def test_every_error_of_mpinet_is_one_sentence_for_ipython():
    assert MpinetError("No.")._render_traceback_() == ["MpinetError: No."]
