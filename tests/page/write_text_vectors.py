"""What Python finds in many texts with many models, for the tests of `text.js`: models as folders, answers as JSON.

python tests/page/write_text_vectors.py FOLDER [--texts N] [--models N] [--reviews test.parquet]
"""

import argparse
import base64
import hashlib
import json
import math
import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from hardmax._validation import InputError
from hardmax.text import TextModel, Tokeniser, Vocabulary
from hardmax.text._characters import CHARACTERS, fold
from hardmax.text.shipped import MODELS, available, load
from hardmax.text.storage import deciding_files
from hardmax.text.tokeniser import cut_surface, join_words

_WORDS = """
good bad film don't it's a 2nd rock'n'roll naïve straße ΣΊΣΥΦΟΣ σίσυφος фильм плохой ѝ 不 好 看 東京 カメラ です ความ รัก
เป็น ไทย ລາວ ភាសា မြန်မာ བོད ሰላም 한국어 עברית العربية हिन्दी தமிழ் 🎬 👍🏽 👩\u200d👩\u200d👧 🇩🇪 🇫🇷 1️⃣ ❤️ Ǆ İstanbul ẞ ﬁlm ﬀ ½
m² x̌ e\u0301tude Å K ſ ΐ ᾳ Ա ա 𝔘𝔫𝔦 𐐀𐐨 \u200dok a\u200cb เ ก เก 🇩 🇪 👩 👧 ๆ
"""
_ODD = """
<br />|<BR>|</p >|< br>|<1>|<a b|a<b>c|<é>|.|!|…|。|؟|।|'|’|''|'a|b’|-|—|\t|\0|\u3000|\ufeff|\ufffd|\ud800|\udfff
|\udc00\ud800|\u0301|\u200d|\u200c|\ufe0f|🇩|เ|เเ|༎|་|\U0010ffff"""
WORDS = _WORDS.split()
ODD = [*_ODD.split("|"), *(f"<a good film {'y' * length}>" for length in (188, 189, 190))]  # the last is no tag
SEPARATORS = [" "] * 12 + ["", "", ", ", ". ", "<br />", "’", "'", "\n", "-"]
FIXED = ["", " ", "...", "<br /><br />", "good" * 30000, "not good. " * 10000, "😀" * 3000, "\ud800" * 40, "'" * 500]
FIXED += ["<" * 500, "good " + "q" * 27, "good 不好 เ ก เก 🇩 🇪 🇩🇪 👩 👧 👩\u200d👧"]  # 12.5 % are rounded to even


def make_texts(known: list[str], number: int, seed: int) -> list[str]:
    """Texts of many scripts: known words, odd characters, and characters picked from all of Unicode."""
    rng, texts = random.Random(seed), []
    for _ in range(number):
        pools = [known, known, known, WORDS, ODD][: rng.randint(1, 5)]
        pieces = []
        for _ in range(rng.choice([0, 1, 3, 10, 40, 200])):
            word = rng.choice(rng.choice(pools)) if rng.random() < 0.98 else chr(rng.randrange(0x110000))
            pieces += [word.upper() if rng.random() < 0.1 else word, rng.choice(SEPARATORS)]
        texts.append("".join(pieces))
    # Two surrogates side by side are one character for JavaScript, and two for Python.
    return [text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass") for text in texts]


def make_model(seed: int) -> TextModel:
    """A small model of any kind. With coordinates that are small whole numbers, or the same ones in another order,
    ties are everywhere; rounding breaks the latter. Often two classes are level."""
    rng = np.random.default_rng(seed)
    words = [word for word in dict.fromkeys(map(fold, WORDS)) if cut_surface(word) == [word]]
    words += [str(word) for word in range(30)]
    phrases = [join_words(rng.choice(words, 2).tolist()) for _ in range(40)]
    surfaces = list(dict.fromkeys([*words, *(phrase for phrase in phrases if cut_surface(phrase))]))
    rng.shuffle(surfaces)
    d, classes = int(rng.choice([1, 2, 2, 3, 5])), int(rng.choice([2, 2, 3, 20]))
    few, kind = rng.normal(size=d) * 2.0 ** rng.integers(-12, 12, d), rng.choice(["whole", "orders", "any"])
    draws = {
        "whole": lambda *shape: rng.integers(-2, 3, shape).astype(float),
        "orders": lambda *shape: rng.permuted(np.broadcast_to(few, (*shape[:-1], d)) * 1.0, axis=-1),
        "any": lambda *shape: rng.normal(size=shape),
    }
    embeddings, decoder = draws[kind](len(surfaces), d), draws[kind](1 if classes == 2 else classes, d)
    if kind == "orders":
        embeddings[rng.random(len(surfaces)) < 0.3] = few.mean() / 2  # for them all orders are equally far
    bias = np.zeros(len(decoder)) if rng.random() < 0.5 else rng.normal(size=len(decoder))
    if classes > 2 and rng.random() < 0.5:
        decoder[1], bias[1] = decoder[0], bias[0]
    extra = [None, draws[kind](d), np.eye(d)[-1] * 3][seed % 3]
    if seed % 3 == 2:  # a neutral leader
        decoder[:, -1] = 0
    spread = rng.normal(size=(d, d))
    square = spread @ spread.T + np.eye(d) if kind == "any" else np.diag(rng.integers(1, 3, d)).astype(float)
    return TextModel(
        vocabulary=Vocabulary(surfaces, rng.integers(0, 9, (len(surfaces), classes))),
        embeddings=embeddings,
        decoder=decoder,
        bias=bias,
        classes=tuple(f"class {number}" for number in range(classes)),
        layers=[0, 1, 2, 8, math.inf][seed // 3 % 5],
        alpha=str(rng.choice(["1", "1/4", "0.1", "3", "22/7"])),
        metric=None if rng.random() < 0.5 else (square + square.T) / 2,
        extra=extra,
        gate=None if extra is None or rng.random() < 0.5 else float(rng.choice([0.0, 0.5, 0.9])),
        neutral_weight=1 if extra is None else int(rng.choice([1, 50])),
        temperature=float(rng.choice([1.0, 0.01, 2.5])),
        binary=bool(rng.random() < 0.5),
        tokeniser=Tokeniser(longest_phrase=int(rng.integers(1, 6)), overlapping=bool(rng.random() < 0.5)),
        metrics={"training_lengths": [20, 600]} if rng.random() < 0.5 else {},
    )


def answer(model: TextModel, text: str, *, full: bool) -> dict[str, Any]:
    """What `classify` must say of a text; places are UTF-16 offsets."""
    why = model.explain(text)
    found, offsets = why.found, np.cumsum([0, *(1 + (ord(character) > 0xFFFF) for character in text)])
    said = {
        "label": why.label,
        "answer": int(found.probabilities[0].argmax()) if found.decided[0] else -1,
        "active": int(found.active_per_text[0]),
        "probabilities": found.probabilities[0].tolist(),
        "by_integers": found.by_integers,
    }
    if not full:
        return said
    return said | {
        "reason": why.undecided_because,
        "towards": why.towards,
        "logit": why.logit,
        "bias": why.bias,
        "rest": why.rest,
        "known": why.known,
        "ids": found.ids.tolist(),
        "words": why.words,
        "counts": found.counts.tolist(),
        "places": [offsets[places].tolist() for places in why.read.places],
        "masses": found.masses.tolist(),
        "contributions": (found.masses * model.prepared.scores[found.rows, why._row]).tolist(),
        "votes": why.votes.tolist(),
        "actives": found.active.tolist(),
        "since": found.leader_since.tolist(),
        "follows": found.follows.tolist(),
        "sides": why.sides.tolist(),
        "starts": why.points.tolist(),
        "ends": why.ends.tolist(),
        "path": why.path.tolist() if 0 < why.path.size < 2000 else None,
    }


SETTINGS: dict[str, list[Any]] = {
    "format": ["another"],
    "version": [2, "1"],
    "classes": [["one"], ["a", "a"], [True, 1], [None, 1], ["a", "b", "c"]],
    "layers": [-1, 10_001, "many", None, True, 3, "inf"],
    "alpha": ["0", "-1", "1/0", "x", None, 0.5, "2e-3"],
    "temperature": [0, "1", -2.5, 3],
    "gate": [1, -0.1, "0", None, 0],
    "neutral_weight": [0, 1.5, 7],
    "counts": ["some", "all"],
    "tokeniser": [None, {}, {"longest_phrase": 6}, {"longest_phrase": 5}, {"overlapping": 1}, {"other": 1}],
    "tokens": [3],
    "dimension": [3],
    "tensors": [["embeddings"]],
    "new": [1],
}
TENSORS: list[tuple[str, Callable[[np.ndarray], np.ndarray]]] = [
    *(("embeddings", lambda x, cut=cut: x[cut]) for cut in (np.s_[1:], np.s_[:, :1], np.s_[None])),
    *(("embeddings", lambda x, dtype=dtype: x.astype(dtype)) for dtype in ("f8", "f2", "i4")),
    *((name, lambda x: x * np.nan) for name in ("embeddings", "decoder", "bias", "extra", "metric")),
    *((name, lambda x: np.concatenate([x, x])) for name in ("decoder", "bias", "extra", "metric")),
    ("metric", lambda x: -x),
    ("metric", np.ones_like),
    ("metric", lambda x: x + np.triu(np.ones(x.shape))),
    ("metric", lambda x: x.astype("f4")),
    ("metric", lambda x: x * 1e300),
    ("more", np.ones_like),
]


def damaged_files() -> Iterator[tuple[str, dict[str, bytes]]]:
    """Files of a model of which something is wrong, or unusual; hashes fit, so that the other checks are reached."""
    models = map(make_model, range(2, 999, 3))
    model = next(m for m in models if m.metric is not None and m.dimension == 2 and len(m.classes) == 2)
    files = deciding_files(model)
    config, weights = json.loads(files["config.json"]), files["model.safetensors"]
    for key, values in SETTINGS.items():
        for value in values:
            yield f"{key} {value!r}", files | {"config.json": json.dumps(config | {key: value}).encode()}
        rest = {name: value for name, value in config.items() if name != key}
        yield f"no {key}", files | {"config.json": json.dumps(rest).encode()}
    for name, data in files.items():
        for size in (0, 1, 7, 8, len(data) // 2, len(data) - 1):
            yield f"{name} cut after {size}", files | {name: data[:size]}
        yield f"{name} longer", files | {name: data + b"\0"}
        yield f"{name} no UTF-8", files | {name: b"\xff" + data}
    tensors = load_tensors(weights)
    for number, (name, change) in enumerate(TENSORS):
        changed = tensors | {name: np.ascontiguousarray(change(tensors.get(name, tensors["bias"])))}
        yield f"tensor {name} {number}", files | {"model.safetensors": save_tensors(changed)}
    for name in tensors:
        rest = {key: value for key, value in tensors.items() if key != name}
        named = json.dumps(config | {"tensors": sorted(rest)}).encode()
        yield f"no tensor {name}", files | {"model.safetensors": save_tensors(rest), "config.json": named}
    size = int.from_bytes(weights[:8], "little")
    header = json.loads(weights[8 : 8 + size])
    header["extra"]["data_offsets"] = header["decoder"]["data_offsets"]
    packed = json.dumps(header).encode()
    overlap = len(packed).to_bytes(8, "little") + packed + weights[8 + size :]
    yield "two tensors in one place", files | {"model.safetensors": overlap}
    first, *lines = files["vocabulary.txt"].decode().splitlines(keepends=True)
    token, one, two = first.split("\t")
    ways = [first[:-1], first + first, f"{token}\t{two}", f"{token}\t1\t{first}", f"{token}\n", f"{token}\t-1\t{two}"]
    for way in [*ways, f"{token}\t1.0\t{two}", f"{token}\t\t{two}", "\n", "", "\ufeff" + first, f"new\t{one}\t{two}"]:
        yield f"vocabulary {way!r}", files | {"vocabulary.txt": "".join([way, *lines]).encode()}


def write_damaged(folder: Path) -> None:
    """Write `damaged.json`: files, and what Python says of them; empty if it reads them."""
    cases = []
    for name, files in damaged_files():
        own = {key: hashlib.sha256(data).hexdigest() for key, data in files.items()}
        every = files | {"hashes.json": json.dumps(own).encode(), "metrics.json": b"{}"}
        with tempfile.TemporaryDirectory() as place:
            for key, data in every.items():
                Path(place, key).write_bytes(data)
            try:
                load(place)
                said = ""
            except InputError as error:
                said = str(error)
        packed = {key: base64.b64encode(data).decode() for key, data in every.items()}
        cases.append({"name": name, "files": packed, "said": said})
    (folder / "damaged.json").write_text(json.dumps(cases))


def write_vectors(
    folder: Path, texts: int, models: int, reviews: Path | None = None, rows: int = 0, texts_of_shipped: int = 150
) -> dict[str, int]:
    """Write `texts.json`, `damaged.json`, `characters.bin` (kinds, then lower case as uint32) and the made-up models;
    return how many texts there are, how many are undecided, how many have level classes or needed integers."""
    cases, made = [], {"texts": 0, "undecided": 0, "level": 0, "by_integers": 0}
    for number, name in enumerate([*available(), *map(str, range(models))]):
        shipped = number < len(available())
        model, path = (load(name), MODELS / name) if shipped else (make_model(int(name)), folder / "models" / name)
        if not shipped:
            model.save(path)
        given = make_texts(list(model.vocabulary.surfaces[:2000]), texts_of_shipped if shipped else texts, number)
        given += FIXED if number < 4 else []
        runs = [(given, True)]
        if reviews is not None and shipped:
            import pyarrow.parquet

            runs.append((pyarrow.parquet.read_table(reviews)["text"].to_pylist()[:rows], False))
        for some, full in runs:
            answers = [answer(model, text, full=full) for text in some]
            cases.append({"model": str(path.resolve()), "texts": some, "answers": answers})
            made["texts"] += len(some)
            made["undecided"] += sum(found["answer"] < 0 for found in answers)
            made["level"] += sum(found["answer"] < 0 < found["active"] for found in answers)
            made["by_integers"] += sum(found["by_integers"] for found in answers)
    (folder / "texts.json").write_text(json.dumps(cases))
    write_damaged(folder)
    lowered = np.arange(0x110000, dtype="<u4")
    lowered[: len(CHARACTERS.lowered)] = CHARACTERS.lowered
    (folder / "characters.bin").write_bytes(CHARACTERS.classes.tobytes() + lowered.tobytes())
    return made


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--texts", type=int, default=20, help="for each made-up model")
    parser.add_argument("--models", type=int, default=30)
    parser.add_argument("--reviews", type=Path, help="a Parquet file with a column `text`")
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--texts-of-shipped", type=int, default=150)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    print(write_vectors(args.folder, args.texts, args.models, args.reviews, args.rows, args.texts_of_shipped))
