import pytest

from hardmax._validation import InputError
from hardmax.paper.reviews.lemmas import NounLemmas, find_lemmas, read_lemmas


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "index.noun").write_text(
        "  1 a licence\nmovie n 1 0 1 0 1\nglass n 1\nglasses n 1\nas n 1\nax n 1\naxis n 1\n"
    )
    (tmp_path / "noun.exc").write_text("axes ax axis\nmen man\n")
    return tmp_path


def test_the_shortest_candidate_wins(folder):
    lemmas = read_lemmas(folder)
    words = ("movies", "glasses", "axes", "ass", "unknowns")
    assert [lemmas.shortest(word) for word in words] == ["movie", "glass", "ax", "as", "unknowns"]


def test_an_irregular_form_of_no_known_noun_stays(folder):
    assert read_lemmas(folder).shortest("men") == "men"


def test_endings_are_taken_off_until_a_noun_is_found():
    assert NounLemmas(frozenset({"bus"}), {}).shortest("busess") == "bus"


def test_the_licence_is_no_noun(folder):
    assert read_lemmas(folder).nouns == {"movie", "glass", "glasses", "as", "ax", "axis"}


def test_a_folder_without_the_files_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"index\.noun and noun\.exc"):
        read_lemmas(tmp_path)


def test_the_environment_names_the_folder(folder, monkeypatch):
    monkeypatch.setenv("HARDMAX_WORDNET", str(folder))
    found = find_lemmas()
    assert found is not None
    assert "movie" in found.nouns
