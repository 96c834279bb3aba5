"""What Python finds in many texts with many models, for the tests of `text.js`: models as folders,
answers as JSON.

python tests/page/write_text_vectors.py FOLDER [--texts N] [--models N] [--reviews test.parquet]
"""

import argparse
import base64
import hashlib
import json
import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from hardmax._common.validation import InputError
from hardmax.text import Modifier, TextModel, Tokeniser, Vocabulary, VotingRule
from hardmax.text._characters import CHARACTERS, fold
from hardmax.text.shipped import MODELS, available, load_model
from hardmax.text.storage import deciding_files
from hardmax.text.tokeniser import cut_surface, cut_words, join_words

_WORDS = """
good bad film don't it's a 2nd rock'n'roll naïve straße ΣΊΣΥΦΟΣ σίσυφος фильм плохой ѝ
不 好 看 東京 カメラ です ความ รัก
เป็น ไทย ລາວ ភាសា မြန်မာ བོད ሰላም 한국어 עברית العربية हिन्दी தமிழ்
🎬 👍🏽 👩\u200d👩\u200d👧 🇩🇪 🇫🇷 1️⃣ ❤️ Ǆ İstanbul ẞ ﬁlm ﬀ ½
m² x̌ e\u0301tude Å K ſ ΐ ᾳ Ա ա 𝔘𝔫𝔦 𐐀𐐨 \u200dok a\u200cb เ ก เก 🇩 🇪 👩
👧 ๆ 13.1 1,000 2. n'est wouldn't n't ⋯ :) =( :p ;d <3 :/ sooo good iii 1000 ㅋㅋ ÄÖÜÜÜ
"""
_ODD = """
<br />|<BR>|</p >|< br>|<1>|<a b|a<b>c|<é>|.|!|…|。|؟|।|'|’|\
''|'a|b’|-|—|\t|\0|\u3000|\ufeff|\ufffd|\ud800|\udfff
|(|)|[|{|"|«|“|„|–|--|---|,|،|、|（|「|1.|.5|1.2.3|7,a|4'5|\n|\
\udc00\ud800|\u0301|\u200d|\u200c|\ufe0f|🇩|เ|เเ|༎|་|\U0010ffff|:|;|=|<|3|:-|:'|))|//|:-D|ooo|mmmm|١١١|sss's|:((x"""
WORDS = _WORDS.split()
ODD = _ODD.split("|")
ODD += [f"<a good film {'y' * length}>" for length in (188, 189, 190)]  # the last is no tag
SEPARATORS = [" "] * 24 + ["", "", ", ", ". ", "<br />", "’", "'", "\n", "-", "--", " (", "” "]
FIXED = ["", " ", "...", "<br /><br />", "good" * 30000, "not good. " * 10000]
FIXED += ["😀" * 3000, "\ud800" * 40, "'" * 500, "<" * 500]
FIXED += ["good " + "q" * 27]  # 12.5 % are rounded to even
FIXED += ["good 不好 เ ก เก 🇩 🇪 🇩🇪 👩 👧 👩\u200d👧"]


def make_texts(known: list[str], number: int, seed: int) -> list[str]:
    """Texts of many scripts: known words, odd characters, and characters picked from all of
    Unicode."""
    rng, texts = random.Random(seed), []
    for _ in range(number):
        pools = [known, known, known, WORDS, ODD][: rng.randint(1, 5)]
        pieces = []
        for _ in range(rng.choice([0, 1, 3, 10, 40, 200])):
            if rng.random() < 0.98:
                word = rng.choice(rng.choice(pools))
            else:
                word = chr(rng.randrange(0x110000))
            if rng.random() < 0.1:
                word = word.upper()
            pieces += [word, rng.choice(SEPARATORS)]
        texts.append("".join(pieces))
    # Two surrogates side by side are one character for JavaScript, and two for Python.
    packed = [text.encode("utf-16", "surrogatepass") for text in texts]
    return [text.decode("utf-16", "surrogatepass") for text in packed]


def make_modifiers(rng: np.random.Generator, words: list[str]) -> tuple[Modifier, ...]:
    """Up to six words and forms; often several have the same strength."""
    forms = ["*n't", "n'*", "*’t", "*m", "f*", "*фильм"]
    drawn = rng.choice([*words, "not", "never", "very", *forms], 6)
    factors = rng.choice([-0.5, -0.5, 2.5, 1.0, 0.125, -16, 7.375, 0.06], 6)
    made = map(Modifier, drawn.tolist(), factors.tolist())
    distinct = {modifier.word: modifier for modifier in made}
    return tuple(distinct.values())[: rng.integers(0, 7)]


def make_model(seed: int) -> TextModel:
    """A small model of any kind.

    With weights that are small whole numbers, ties are everywhere. Often two classes are level.
    """
    rng = np.random.default_rng(seed)
    words = [word for word in dict.fromkeys(map(fold, WORDS)) if cut_surface(word) == [word]]
    words += [str(word) for word in range(30)]
    phrases = [join_words(rng.choice(words, 2).tolist()) for _ in range(40)]
    surfaces = [*words, *(phrase for phrase in phrases if cut_surface(phrase))]
    surfaces = list(dict.fromkeys(surfaces))
    rng.shuffle(surfaces)
    classes = int(rng.choice([2, 2, 3, 20]))
    rows = 1 if classes == 2 else classes
    weights = rng.normal(size=(len(surfaces), rows))
    if seed % 2:
        weights = rng.integers(-2, 3, weights.shape).astype(float)
    bias = np.zeros(rows) if rng.random() < 0.5 else rng.normal(size=rows)
    if classes > 2 and rng.random() < 0.5:
        weights[:, 1], bias[1] = weights[:, 0], bias[0]
    scope, gate = int(rng.choice([1, 2, 4, 100])), float(rng.choice([0.0, 0.0, 0.05, 0.5, 0.9]))
    alpha = str(rng.choice(["0", "1", "1/4", "0.1", "22/7"])) if classes == 2 else "0"
    neutral_weight = int(rng.choice([1, 50]))
    rule = VotingRule(scope=scope, gate=gate, alpha=alpha, neutral_weight=neutral_weight)
    counts = rng.integers(0, 9, (len(surfaces), classes))
    scale = 10.0 ** rng.integers(-3, 3)
    modifiers = make_modifiers(rng, words)
    longest, overlapping = int(rng.integers(1, 6)), bool(rng.random() < 0.5)
    return TextModel(
        vocabulary=Vocabulary(surfaces, counts),
        weights=weights * scale,
        bias=bias,
        classes=tuple(f"class {number}" for number in range(classes)),
        modifiers=modifiers,
        rule=rule,
        tokeniser=Tokeniser(longest_phrase=longest, overlapping=overlapping),
        metrics={"training_lengths": [20, 600]} if rng.random() < 0.5 else {},
    )


SHOWN = "word modifiers count factor shift weight vote active leads class_index"
NAMES = {"class_index": "classIndex"}


def answer(model: TextModel, text: str, *, full: bool) -> dict[str, Any]:
    """What `classify` must say of a text; places are UTF-16 offsets."""
    why = model.explain(text)
    found = why._analysis
    offsets = _utf16(text)
    said = {"label": why.label, "attends": len(why.links)}
    said["answer"] = int(found.probabilities[0].argmax()) if why.decided else -1
    said["active"] = int(found.active_per_text[0])
    said["probabilities"] = found.probabilities[0].tolist()
    said["logits"] = found.logits[0].tolist()
    if not full:
        return said
    entries = {entry.word: entry for entry in why.ledger}
    ordered = [entries[word] for word in why._words]
    said |= {"reason": why.undecided_because, "notes": why.notes}
    said |= {"positiveClass": why.positive_class, "logit": why.logit, "bias": why.bias}
    said["known"] = len(why.ledger)
    rows = zip(found.ids.tolist(), ordered, why._read.attended, strict=True)
    tokens = []
    for token, entry, several in rows:
        one = {NAMES.get(name, name): getattr(entry, name) for name in SHOWN.split()}
        one["id"] = token
        one["places"] = offsets[np.array(entry.spans)].tolist()
        one["attended"] = [_attended(model, offsets, *seen) for seen in several.tolist()]
        tokens.append(one)
    return said | {"tokens": tokens}


def _cut(text: str) -> list[tuple[str, int, int]]:
    """The words of a text, and their places."""
    offsets = _utf16(text).tolist()
    return [(word.surface, offsets[word.start], offsets[word.end]) for word in cut_words(text)]


def _utf16(text: str) -> np.ndarray:
    """Where each character begins for JavaScript, and where the text ends."""
    sizes = [1 + (ord(character) > 0xFFFF) for character in text]
    return np.cumsum([0, *sizes])


def _attended(model: TextModel, offsets: np.ndarray, start: int, end: int, number: int) -> Any:
    """Place, factor and shift of the modifier that a token attends to."""
    if number < 0:
        return None
    modifier = model.modifiers[number]
    return [int(offsets[start]), int(offsets[end]), modifier.factor, modifier.shift]


SETTINGS: dict[str, list[Any]] = {
    "format": ["another"],
    "version": [1, "2"],
    "classes": [["one"], ["a", "a"], ["a", "b", "c"]],
    "modifiers": [None, [], [None]],
    "scope": [0, 1.5, 100],
    "gate": [1, None, 0.99],
    "alpha": ["1/0", "x", 0.5],
    "neutral_weight": [0, 7],
    "tokeniser": [None, {}, {"longest_phrase": 6}, {"other": 1}],
    "tokens": [3],
    "new": [1],
}
NAMED = ("Not", "*n't", "not good", "a*b", "?", 1)
MODIFIERS: list[dict[str, Any]] = [{"word": word, "factor": -0.5} for word in NAMED]
MODIFIERS += [{"word": "not", "factor": factor} for factor in (0.01, 0.1875, 16.5, "1", True)]
MODIFIERS += [{"word": "not", "factor": 1, "texts": texts} for texts in (0, -1, 1.5)]
MODIFIERS += [{"word": "not"}, {"word": "not", "factor": 1, "more": 1}]
TENSORS: list[tuple[str, Callable[[np.ndarray], np.ndarray]]] = [
    ("weights", lambda x: x[1:]),
    ("weights", lambda x: x.astype("f8")),
    ("weights", lambda x: x * np.nan),
    ("bias", lambda x: np.concatenate([x, x])),
    ("more", np.ones_like),
]


def damaged_files() -> Iterator[tuple[str, dict[str, bytes]]]:
    """Files of a model of which something is wrong, or unusual; hashes fit, so that the other
    checks are reached."""
    models = map(make_model, range(99))
    model = next(model for model in models if len(model.classes) == 2)
    files = deciding_files(model)
    config, weights = json.loads(files["config.json"]), files["model.safetensors"]
    for key, values in SETTINGS.items():
        for value in values:
            changed = json.dumps(config | {key: value}).encode()
            yield f"{key} {value!r}", files | {"config.json": changed}
        rest = {name: value for name, value in config.items() if name != key}
        yield f"no {key}", files | {"config.json": json.dumps(rest).encode()}
    several = [[modifier] for modifier in MODIFIERS]
    for modifiers in [*several, MODIFIERS[:1] * 2, MODIFIERS[:2]]:
        changed = json.dumps(config | {"modifiers": modifiers}).encode()
        yield f"modifiers {modifiers!r}", files | {"config.json": changed}
    for name, data in files.items():
        for size in (0, 1, 7, 8, len(data) // 2, len(data) - 1):
            yield f"{name} cut after {size}", files | {name: data[:size]}
        yield f"{name} longer", files | {name: data + b"\0"}
        yield f"{name} no UTF-8", files | {name: b"\xff" + data}
    tensors = load_tensors(weights)
    for number, (name, change) in enumerate(TENSORS):
        tensor = tensors.get(name, tensors["bias"])
        changed = tensors | {name: np.ascontiguousarray(change(tensor))}
        yield f"tensor {name} {number}", files | {"model.safetensors": save_tensors(changed)}
    for name in tensors:
        rest = {key: value for key, value in tensors.items() if key != name}
        yield f"no tensor {name}", files | {"model.safetensors": save_tensors(rest)}
    size = int.from_bytes(weights[:8], "little")
    header = json.loads(weights[8 : 8 + size])
    header["bias"]["data_offsets"] = header["weights"]["data_offsets"]
    packed = json.dumps(header).encode()
    overlap = len(packed).to_bytes(8, "little") + packed + weights[8 + size :]
    yield "two tensors in one place", files | {"model.safetensors": overlap}
    first, *lines = files["vocabulary.txt"].decode().splitlines(keepends=True)
    token, one, two = first.split("\t")
    ways = [first[:-1], first + first, f"{token}\t{two}", f"{token}\t-1\t{two}", "\n", ""]
    for way in [*ways, f"{token}\t1.0\t{two}", "\ufeff" + first, f"new\t{one}\t{two}"]:
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
                load_model(place)
                said = ""
            except InputError as error:
                said = str(error)
        packed = {key: base64.b64encode(data).decode() for key, data in every.items()}
        cases.append({"name": name, "files": packed, "said": said})
    (folder / "damaged.json").write_text(json.dumps(cases))


def write_vectors(
    folder: Path,
    texts: int,
    models: int,
    reviews: Path | None = None,
    rows: int = 0,
    texts_of_shipped: int = 150,
) -> dict[str, int]:
    """Write `texts.json`, `words.json`, `damaged.json`, `characters.bin` (kinds, then lower case as
    uint32, then what may be stretched) and the made-up models.

    Return how many texts there are; how many are undecided, have level classes, or tokens that
    attend to others."""
    cases, made = [], {"texts": 0, "undecided": 0, "level": 0, "attending": 0}
    for number, name in enumerate([*available(), *map(str, range(models))]):
        shipped = number < len(available())
        if shipped:
            model, path = load_model(name), MODELS / name
        else:
            model, path = make_model(int(name)), folder / "models" / name
            model.save(path)
        words = [modifier.word.strip("*") for modifier in model.modifiers for _ in range(20)]
        known = [*model.vocabulary.surfaces[:2000], *words]
        given = make_texts(known, texts_of_shipped if shipped else texts, number)
        given += FIXED if number < 4 else []
        runs = [(given, True)]
        if reviews is not None and shipped:
            import pyarrow.parquet

            table = pyarrow.parquet.read_table(reviews)
            runs.append((table["text"].to_pylist()[:rows], False))
        for some, full in runs:
            answers = [answer(model, text, full=full) for text in some]
            cases.append({"model": str(path.resolve()), "texts": some, "answers": answers})
            made["texts"] += len(some)
            made["undecided"] += sum(found["answer"] < 0 for found in answers)
            made["level"] += sum(found["answer"] < 0 < found["active"] for found in answers)
            made["attending"] += sum(found["attends"] > 0 for found in answers)
    (folder / "texts.json").write_text(json.dumps(cases))
    write_damaged(folder)
    words = [(text, _cut(text)) for text in make_texts([*WORDS, *ODD], 3000, seed=0)]
    (folder / "words.json").write_text(json.dumps(words))
    lowered = np.arange(0x110000, dtype="<u4")
    lowered[: len(CHARACTERS.lowered)] = CHARACTERS.lowered
    tables = CHARACTERS.classes, lowered, CHARACTERS.stretching
    (folder / "characters.bin").write_bytes(b"".join(table.tobytes() for table in tables))
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
    sizes = args.reviews, args.rows, args.texts_of_shipped
    print(write_vectors(args.folder, args.texts, args.models, *sizes))
