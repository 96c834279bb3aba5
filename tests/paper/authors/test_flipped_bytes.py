"""Files with bytes changed at random: they are read, or refused in one line, and nothing else ever happens."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from paper.authors.making import archive, classifier, members, parts, pickled

from hardmax._validation import InputError
from hardmax.paper.authors.weights import read_weights

PICKLE = pickled(classifier(parts(5, 2)))
FILE = archive(members())


def changes(size: int) -> st.SearchStrategy[list[tuple[int, int]]]:
    return st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, 255)), min_size=1, max_size=4)


def changed(data: bytes, where: list[tuple[int, int]]) -> bytes:
    other = bytearray(data)
    for place, byte in where:
        other[place] = byte
    return bytes(other)


def read_or_refuse(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    try:
        said = repr(read_weights(path))
    except InputError as error:
        said = str(error)
    assert "\n" not in said


@settings(max_examples=400, deadline=5000)
@given(changes(len(PICKLE)))
def test_bytes_of_the_pickle(tmp_path_factory, where):
    read_or_refuse(tmp_path_factory.getbasetemp() / "pickle.pth", archive(members(changed(PICKLE, where))))


@settings(max_examples=300, deadline=5000)
@given(changes(len(FILE)))
def test_bytes_of_the_archive(tmp_path_factory, where):
    read_or_refuse(tmp_path_factory.getbasetemp() / "archive.pth", changed(FILE, where))


@settings(max_examples=200, deadline=5000)
@given(st.integers(0, len(PICKLE)), st.integers(0, len(PICKLE)), st.binary(max_size=12))
def test_pieces_of_the_pickle_in_another_order(tmp_path_factory, first, second, between):
    data = PICKLE[:first] + between + PICKLE[second:]
    read_or_refuse(tmp_path_factory.getbasetemp() / "pieces.pth", archive(members(data)))


@settings(max_examples=200, deadline=5000)
@given(st.binary(max_size=60))
def test_any_pickle_at_all(tmp_path_factory, data):
    read_or_refuse(tmp_path_factory.getbasetemp() / "any.pth", archive(members(b"\x80\x02" + data)))
