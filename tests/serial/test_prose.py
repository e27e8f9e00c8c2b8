"""Docstrings, comments, messages and pages are plain English, by the counts of `prose.py`."""

import textwrap
from pathlib import Path

import pytest
from prose import CHECKOUT, PLACES, Count, by_room, count, files_of, room_of

IDIOMS, PRONOUNS = 0.8, 45
"""Most idioms and pronouns per 1,000 words of each room and page."""

ALL_IDIOMS, ALL_PRONOUNS = 0.5, 35
"""Most idioms and pronouns per 1,000 words of everything."""

FEW = 100
"""Words below which a rate says nothing."""

PATHS = [*files_of(CHECKOUT / place for place in PLACES)]


def above(found: Count, idioms: float, pronouns: float) -> bool:
    """Whether a count exceeds a ceiling."""
    rates = found.rates
    return found.words >= FEW and (rates[0] > idioms or rates[1] > pronouns)


@pytest.mark.parametrize("room", sorted({room_of(path) for path in PATHS}))
def test_a_room_or_page_is_plain_english(room: str) -> None:
    ((prose, short),) = by_room(path for path in PATHS if room_of(path) == room).values()
    assert not above(prose, IDIOMS, PRONOUNS), prose.rates
    # One idiom is allowed: mpi4py's own texts have "buffer is None but count is 3".
    assert not above(short, max(IDIOMS, 1000 / max(short.words, 1)), PRONOUNS), short.rates


@pytest.mark.parametrize("kind", [0, 1], ids=["prose", "messages and cells"])
def test_everything_together_is_plain_english(kind: int) -> None:
    whole = sum((pair[kind] for pair in by_room(PATHS).values()), Count())
    assert whole.words > 40_000
    assert not above(whole, ALL_IDIOMS, ALL_PRONOUNS), whole.rates


def counted(folder: Path, name: str, text: str) -> tuple[Count, Count]:
    """The counts of a file with this text."""
    (folder / name).write_text(textwrap.dedent(text).lstrip())
    return count(folder / name)


def test_prose_of_code_is_docstrings_texts_below_fields_and_comments(tmp_path: Path) -> None:
    source = '''
        """A module that has what is needed. Nobody knows it."""

        LIMIT = 3
        """Steps of one."""


        def f(x):
            """Return x.

            >>> f("those that nobody counts")
            1
            """
            # So there are two lines,
            # and one group, too.
            return x  # those
        '''
    prose, short = counted(tmp_path, "code.py", source)
    # 10 + 3 + 3 words of strings (the line of the example is left out), 10 of comments.
    assert (prose.words, prose.idioms, prose.pronouns) == (26, 3, 8)
    assert short.words == 0


def test_messages_of_code_are_help_texts_and_errors(tmp_path: Path) -> None:
    source = """
        def f(name):
            raise ValueError(f"There is no network {name}: what is it called?")
        HELP = "print what comes of it"
        QUERY = "a=1; b=2; c=3; d=4"
        KEY = "steps"
        """
    prose, short = counted(tmp_path, "texts.py", source)
    assert prose.words == 0
    assert (short.words, short.idioms, short.pronouns) == (14, 2, 5)


def test_a_page_has_prose_and_cells_and_its_code_does_not_count(tmp_path: Path) -> None:
    page = """
        # What is a heading

        It is `what is code` here, <what is a tag>.

        | what is | it |
        |---|---|
        | a cell | of those that are |

        ```
        $ what is printed
        ```
        """
    prose, cells = counted(tmp_path, "page.md", page)
    assert (prose.words, prose.idioms, prose.pronouns) == (5, 0, 1)
    assert (cells.words, cells.idioms, cells.pronouns) == (9, 2, 4)


def test_long_sentences_are_counted(tmp_path: Path) -> None:
    words = " ".join(["word"] * 31)
    prose, _ = counted(tmp_path, "long.md", f"A {words}. Short. A {words[:-5]}.\n")
    assert (prose.long, prose.sentences) == (2, 3)


def test_a_room_above_the_ceiling_is_found() -> None:
    assert above(Count(words=1000, idioms=1), IDIOMS, PRONOUNS)
    assert above(Count(words=1000, pronouns=46), IDIOMS, PRONOUNS)
    assert not above(Count(words=1000, pronouns=45), IDIOMS, PRONOUNS)
