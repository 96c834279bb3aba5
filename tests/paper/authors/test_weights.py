"""The authors' classifier in a file is read as the numbers that stand there; another one is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from paper.authors.making import (
    EMBEDDINGS,
    NUMBERS,
    REAL,
    Call,
    Name,
    New,
    classifier,
    module,
    parts,
    saved_by_torch,
    small_file,
    tensor,
)

from hardmax._validation import InputError
from hardmax.paper.authors.archive import LARGEST_FILE
from hardmax.paper.authors.weights import read_weights


def test_a_small_file_is_read_as_it_is(tmp_path: Path):
    weights = read_weights(small_file(tmp_path))
    assert (weights.embeddings == EMBEDDINGS).all()
    assert (weights.alpha, weights.decoder.tolist(), weights.bias, weights.layers) == (2.5, [-3, 1.5], -0.25, 8)
    assert repr(weights) == "Weights(5 rows in 2 dimensions, 8 layers, alpha 2.5)"


def test_what_torch_saves_is_read_to_the_bit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "torch.pth"
    saved = saved_by_torch(path, monkeypatch, rows=1000, d=3)
    weights = read_weights(path)
    assert (weights.embeddings == saved["encoder.weight"]).all()
    assert (weights.decoder == saved["decoder.weight"][0]).all()
    assert [weights.alpha] == saved["attention.alpha"]
    assert [weights.bias] == saved["decoder.bias"]
    assert (weights.layers, weights.embeddings.dtype) == (8, np.float32)


def test_the_authors_file_is_read_as_it_is():
    if not REAL.exists():
        pytest.skip(f"the authors' weights are not there ({REAL.name})")
    weights = read_weights(REAL)
    assert weights.embeddings.shape == (121_296, 2)
    assert weights.layers == 8
    assert weights.alpha == pytest.approx(2.3528, abs=5e-5)
    assert weights.decoder == pytest.approx([-7.2869, 5.7101], abs=5e-5)
    assert weights.bias == pytest.approx(-0.2843, abs=5e-5)


def test_numbers_of_the_other_byte_order_are_the_same_numbers(tmp_path: Path):
    swapped = {name: np.frombuffer(data, "<f4").astype(">f4").tobytes() for name, data in NUMBERS.items()}
    weights = read_weights(small_file(tmp_path, byteorder=b"big", **swapped))
    assert (weights.embeddings == EMBEDDINGS).all()
    assert weights.alpha == 2.5


def test_a_file_that_does_not_say_its_byte_order_is_little_endian(tmp_path: Path):
    assert read_weights(small_file(tmp_path, byteorder=None)).alpha == 2.5


def with_embedding(weight: Any, **attributes: Any) -> New:
    encoder = module(Name("torch.nn.modules.sparse", "Embedding"), {"weight": weight}, **attributes)
    return classifier(parts(5, 2) | {"encoder": encoder})


def test_strides_and_offsets_are_followed(tmp_path: Path):
    columns = read_weights(small_file(tmp_path, with_embedding(tensor("0", (5, 2), (1, 5)))))
    assert (columns.embeddings == EMBEDDINGS.reshape(2, 5).T).all()
    rest = read_weights(small_file(tmp_path, with_embedding(tensor("0", (3, 2), (2, 1), count=10, offset=4))))
    assert (rest.embeddings == EMBEDDINGS[2:]).all()


def without(key: str) -> New:
    made = classifier(parts(5, 2))
    return made._replace(state={name: value for name, value in made.state.items() if name != key})


LINEAR, WEIGHT = Name("torch.nn.modules.linear", "Linear"), tensor("2", (1, 2), (2, 1))
WRONG = {
    "no module": ({"encoder.weight": tensor("0", (5, 2), (2, 1))}, "is a dict: expected a utils.models.TClassifier"),
    "a part alone": (parts(5, 2)["decoder"], "is a torch.nn.modules.linear.Linear"),
    "no attributes": (Call(Name("collections", "OrderedDict"), ()), "is a dict"),
    "a missing part": (classifier({"encoder": parts(5, 2)["encoder"]}), "has the parts 'encoder'"),
    "another part": (classifier(parts(5, 2) | {"norm": module(LINEAR)}), "norm"),
    "a part of another class": (classifier(parts(5, 2) | {"sigmoid": module(LINEAR)}), "sigmoid is a torch.nn"),
    "a part that is none": (classifier(parts(5, 2) | {"sigmoid": None}), "sigmoid is a NoneType"),
    "further weights": (classifier(parts(5, 2), _parameters={"metric": WEIGHT}), "has the weights 'metric'"),
    "further weights of a part": (
        classifier(parts(5, 2) | {"sigmoid": module(Name("torch.nn.modules.activation", "Sigmoid"), {"w": WEIGHT})}),
        "sigmoid has the weights 'w'",
    ),
    "buffers": (classifier(parts(5, 2), _buffers={"mask": WEIGHT}), "'mask'"),
    "a decoder without bias": (
        classifier(parts(5, 2) | {"decoder": module(LINEAR, {"weight": WEIGHT, "bias": None})}),
        "decoder.bias is a NoneType",
    ),
    "no parts at all": (without("_modules"), "has no _modules"),
    "parts that are a list": (classifier(parts(5, 2), _modules=[]), "has no _modules"),
    "no depth": (without("depth"), "depth is None"),
    "a depth that is no number": (classifier(parts(5, 2), depth="8"), "depth is '8'"),
    "a depth that is true": (classifier(parts(5, 2), depth=True), "depth is True"),
    "a negative depth": (classifier(parts(5, 2), depth=-1), "depth is -1"),
    "endless depth": (classifier(parts(5, 2), depth=10**9), "depth is 1000000000"),
    "an embedding that is cut to a length": (with_embedding(tensor("0", (5, 2), (2, 1)), max_norm=1.0), "max_norm"),
    "an embedding of three axes": (with_embedding(tensor("0", (5, 1, 2), (2, 2, 1))), "shape (5, 1, 2)"),
    "an embedding of another dimension": (with_embedding(tensor("0", (2, 5), (5, 1))), "expected (1, 5)"),
    "no rows": (with_embedding(tensor("0", (0, 2), (2, 1), count=10)), "no numbers"),
    "a shape beyond the numbers": (with_embedding(tensor("0", (6, 2), (2, 1), count=10)), "outside of data/0"),
    "an offset beyond the numbers": (with_embedding(tensor("0", (5, 2), (2, 1), count=10, offset=1)), "outside of"),
    "strides beyond the numbers": (with_embedding(tensor("0", (5, 2), (4, 1), count=10)), "outside of data/0"),
    "few numbers as many": (with_embedding(tensor("0", (2**20, 2), (0, 1), count=10)), "outside of data/0"),
    "more numbers than there are": (with_embedding(tensor("0", (5, 2), (2, 1), count=11)), "40 bytes"),
    "numbers that are not there": (with_embedding(tensor("7", (5, 2), (2, 1))), "data/7"),
}


@pytest.mark.parametrize("name", WRONG)
def test_another_model_is_refused(name: str, tmp_path: Path):
    value, what = WRONG[name]
    with pytest.raises(InputError) as raised:
        read_weights(small_file(tmp_path, value))
    assert what in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"data/1": np.float32(-1).tobytes()}, "expected a positive step"),
        ({"data/1": np.float32(0).tobytes()}, "expected a positive step"),
        ({"data/1": np.float32(np.nan).tobytes()}, "attention.alpha is nan"),
        ({"data/2": np.array([1, np.inf], dtype="f4").tobytes()}, r"decoder.weight is inf at (0, 1)"),
        ({"byteorder": b"middle"}, "byte order b'middle'"),
    ],
)
def test_numbers_that_cannot_be_meant_are_refused(changes: dict[str, bytes], what: str, tmp_path: Path):
    with pytest.raises(InputError) as raised:
        read_weights(small_file(tmp_path, **changes))
    assert what in str(raised.value)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path):
    path = tmp_path / "large.pth"
    with path.open("wb") as stream:
        stream.truncate(LARGEST_FILE + 1)  # which takes no room on the disk
    with pytest.raises(InputError, match="larger than 128 MiB"):
        read_weights(path)


@pytest.mark.parametrize("path", ["nowhere.pth", "."])
def test_what_is_no_file_is_refused(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError):
        read_weights(path)
