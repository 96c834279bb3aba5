"""The paper's histogram of leaders: the words that lead most often in reviews that the models in the plane read."""

from collections.abc import Mapping, Sequence
from typing import Any

from hardmax.figures.cards import Bar
from hardmax.figures.charts import class_handles, draw_bars
from hardmax.figures.style import Axes, Figure, Patch, our_look
from hardmax.paper.piece import Numbers, Piece, Setting
from hardmax.paper.plain import listed
from hardmax.paper.results.documents import kept_document
from hardmax.paper.results.leading import LEAST

DOCUMENT = "leading_words"
OURS, AUTHORS, OWN = "paper mode", "the authors' weights", "our own model, imdb-2d"
CLASSES = ("negative", "positive")
# The authors' list, the most frequent first.
PUBLISHED = ["great", "worst", "waste", "love", "awful", "money", "year", "amazing"]
PUBLISHED += ["boring", "perfect", "left", "enjoyed", "people", "found", "poor"]
_IN_LIST, _UNSURE = "•", "?"


def compute(setting: Setting) -> Numbers:
    """The most frequent leaders of each model, and which of them are in the authors' list."""
    kept = kept_document(DOCUMENT)
    models = [
        model | {"words": [word | {"published": word["word"] in PUBLISHED} for word in model["words"]]}
        for model in kept["models"]
    ]
    return kept | {"published": PUBLISHED, "models": models}


def draw(numbers: Numbers) -> Mapping[str, Figure]:
    """A panel for each model, the most frequent leader on top."""
    models = numbers["models"]
    with our_look():
        figure = Figure(figsize=(3.4 * len(models), 4.6))
        panels = figure.subplots(1, len(models), squeeze=False)[0]
        for ax, model in zip(panels, models, strict=True):
            _draw_bars(ax, model, len(numbers["published"]))
        figure.legend(handles=_key(), loc="lower center", ncols=2, frameon=False, fontsize=8)
        figure.tight_layout(rect=(0, 0.12, 1, 1))
    return {"": figure}


def _draw_bars(ax: Axes, model: Mapping[str, Any], most: int) -> None:
    words = [
        Bar(_name(word), 100 * word["reviews"] / model["correct"], int(word["logit"] > 0), f"{word['logit']:+.0f}")
        for word in model["words"][:most]
    ]
    draw_bars(words, len(CLASSES), ax)
    ax.set_title(model["source"])
    ax.set_xlabel("% of the reviews read correctly")


def _name(word: Mapping[str, Any]) -> str:
    signs = (_IN_LIST if word["published"] else "") + ("" if word["sure"] else _UNSURE)
    return f"{word['word']} {signs}".strip()


def _key() -> list[Patch]:
    return [
        *class_handles(CLASSES, range(len(CLASSES))),
        Patch(fc="none", ec="none", label="+9: the logit of the word alone"),
        Patch(fc="none", ec="none", label=f"{_IN_LIST} in the authors' list of 15"),
    ]


def table(numbers: Numbers) -> list[list[Any]]:
    """A row for each model and word."""
    columns = ["word", "reviews", "confident", "logit", "published", "sure"]
    head = ["whose", "word", "reviews, read correctly", "of these |logit| > 2", "its own logit", "in the authors' list"]
    rows = [
        [model["source"], *(word[name] for name in columns)] for model in numbers["models"] for word in model["words"]
    ]
    return [[*head, "row known to be its"], *rows]


def remark(numbers: Numbers) -> str:
    """How much of the authors' list each model has, and where the lists part."""
    published = numbers["published"]
    by_source = {model["source"]: model for model in numbers["models"]}
    theirs, ours, own = (by_source[source] for source in (AUTHORS, OURS, OWN))
    missing = [word["word"] for word in _first(ours, published) if not word["published"]]
    confident = sorted(theirs["words"], key=lambda word: -word["confident"])[: len(published)]
    unsure = [word["word"] for word in _first(theirs, published) if not word["sure"]]
    return (
        f"The authors list {len(published)} words. Their own weights, on reviews of which we cannot know whether they "
        f"tested or trained on them, have {_shared(_first(theirs, published))} of these among their "
        f"{len(published)} most frequent leaders, and {_shared(confident)} if the review, too, must have a logit above "
        f"{LEAST:g}: the rows of frequent words are named rightly, although the list of words was not published"
        + (f" (the row of {listed(unsure)} might be that of another word as frequent)" if unsure else "")
        + f". Trained by us in the same way, from the same first numbers but on another part of the reviews, the "
        f"network has {_shared(_first(ours, published))} of the {len(published)}, and {listed(missing)} besides. Its "
        f"most frequent leader, {ours['words'][0]['word']}, has a logit of only {ours['words'][0]['logit']:+.1f}: a "
        "word leads by lying far out, also along the line where the decoder says nothing, and words without an opinion "
        "follow it there. Our own model, in which the "
        "words that say little follow a neutral leader, is led by "
        f"{listed([word['word'] for word in own['words'][:6]])}."
    )


def _first(model: Mapping[str, Any], published: Sequence[str]) -> Sequence[Mapping[str, Any]]:
    return model["words"][: len(published)]


def _shared(words: Sequence[Mapping[str, Any]]) -> int:
    return sum(word["published"] for word in words)


PIECE = Piece(
    name="histogram",
    title="The most frequent leaders",
    caption=(
        "The words that lead at the last layer in most of the reviews that are read correctly, among words whose own "
        "logit, what the decoder says of their vector, is above 2 or below −2 (the number at each bar; blue and plain "
        "if it speaks for positive, red and hatched for negative). Left: the paper's network with d = 2, "
        "trained by us as in the paper, with its last weights. Middle: the authors' saved weights, whose rows are "
        "given to our words by frequency; a question mark says that another word is just as frequent. Right: our own "
        "classifier in the plane, where words that say little follow a neutral leader, which is left out. A dot marks "
        "the words of the authors' published list."
    ),
    compute=compute,
    draw=draw,
    table=table,
    remark=remark,
)
