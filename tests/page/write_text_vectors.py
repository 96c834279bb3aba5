"""What Python finds in many texts with many models, for the tests of `text.js`: models as folders, answers as JSON.

    python tests/page/write_text_vectors.py FOLDER [--texts N] [--reviews test.parquet --rows N]
"""

import argparse
import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np

from hardmax.text import TextModel, Tokeniser, Vocabulary
from hardmax.text._characters import CHARACTERS
from hardmax.text.shipped import MODELS, available, load
from hardmax.text.tokeniser import cut_surface

WORDS = """good bad film don't it's a 2nd rock'n'roll naïve straße ΣΊΣΥΦΟΣ σίσυφος фильм плохой ѝ 不 好 看 東京 カメラ です
ความ รัก เป็น ไทย ລາວ ភាសា မြန်မာ བོད ሰላም 한국어 עברית العربية हिन्दी தமிழ் 🎬 👍🏽 👩‍👩‍👧 🇩🇪 🇫🇷 1️⃣ ❤️ Ǆ İstanbul ẞ ﬁlm ﬀ ½ m²
x̌ e\u0301tude Å K ſ ΐ ᾳ Ա ա 𝔘𝔫𝔦 𐐀𐐨 \u200dok a\u200cb""".split()
ODD = ["<br />", "<BR>", "</p >", "< br>", "<1>", "<a b", "a<b>c", f"<x{'y' * 199}>", f"<x{'y' * 200}>", f"<x{'y' * 201}>", "<é>"]
ODD += [".", "!", "…", "。", "؟", "।", "'", "’", "''", "'a", "b’", "-", "—", "\n", "\t", "\0", "\u3000", "\ufeff", "\ufffd"]
ODD += ["\ud800", "\udfff", "\udc00\ud800", "\u0301", "\u200d", "\u200c", "\ufe0f", "🇩", "เ", "เเ", "༎", "་", "\U0010ffff"]
SEPARATORS = [" "] * 12 + ["", "", ", ", ". ", "<br />", "’", "'", "\n", "-"]
FIXED = ["", " ", "...", "<br /><br />", "good" * 30000, "not good. " * 10000, "😀" * 3000, "\ud800" * 40, "'" * 500, "<" * 500]


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
    """A small model of any kind; with coordinates that are small whole numbers ties are everywhere."""
    rng = np.random.default_rng(seed)
    words = [surface for surface in WORDS if cut_surface(surface.lower()) == [surface.lower()] and surface.islower()]
    words += [str(word) for word in range(30)]
    phrases = {f"{rng.choice(words)} {rng.choice(words)}" for _ in range(20)}
    surfaces = list(dict.fromkeys([*words, *(phrase for phrase in phrases if len(cut_surface(phrase)) == 2)]))
    rng.shuffle(surfaces)
    d, classes = int(rng.choice([1, 2, 2, 3, 5])), int(rng.choice([2, 2, 3, 20]))
    whole = rng.random() < 0.6
    draw = (lambda *shape: rng.integers(-2, 3, shape)) if whole else (lambda *shape: rng.normal(size=shape))
    spread, rows = rng.normal(size=(d, d)), 1 if classes == 2 else classes
    square = np.diag(rng.integers(1, 3, d)).astype(float) if whole else spread @ spread.T + np.eye(d)
    extra = [None, draw(d), np.eye(d)[-1] * 3][seed % 3]
    decoder = draw(rows, d)
    if seed % 3 == 2:  # a neutral leader
        decoder[:, -1] = 0
    return TextModel(
        vocabulary=Vocabulary(surfaces, rng.integers(0, 9, (len(surfaces), classes))),
        embeddings=draw(len(surfaces), d),
        decoder=decoder,
        bias=draw(rows) / 4,
        classes=[f"class {number}" for number in range(classes)],
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
        "answer": int(found.answers[0]),
        "active": int(found.active_per_text[0]),
        "probabilities": found.probabilities[0].tolist(),
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
        "notes": why.notes,
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


def write_vectors(folder: Path, texts: int, models: int, reviews: Path | None = None, rows: int = 0) -> None:
    """Write `vectors.json`, `characters.bin` (kinds, then lower case as uint32) and the made-up models."""
    cases = []
    for number, name in enumerate([*available(), *map(str, range(models))]):
        model, path = (load(name), MODELS / name) if number < len(available()) else (make_model(int(name)), folder / name)
        if path.parent == folder:
            model.save(path)
        given = make_texts(list(model.vocabulary.surfaces[:2000]), texts, number)
        if number < 4:
            given += FIXED
        answers = [answer(model, text, full=True) for text in given]
        cases.append({"model": str(path.resolve()), "texts": given, "answers": answers})
        if reviews is not None and number < len(available()):
            import pyarrow.parquet

            given = pyarrow.parquet.read_table(reviews)["text"].to_pylist()[:rows]
            answers = [answer(model, text, full=False) for text in given]
            cases.append({"model": str(path.resolve()), "texts": given, "answers": answers})
    (folder / "vectors.json").write_text(json.dumps(cases))
    lowered = np.arange(0x110000, dtype="<u4")
    lowered[: len(CHARACTERS.lowered)] = CHARACTERS.lowered
    (folder / "characters.bin").write_bytes(CHARACTERS.classes.tobytes() + lowered.tobytes())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--texts", type=int, default=20)
    parser.add_argument("--models", type=int, default=30)
    parser.add_argument("--reviews", type=Path)
    parser.add_argument("--rows", type=int, default=3000)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    write_vectors(args.folder, args.texts, args.models, args.reviews, args.rows)
