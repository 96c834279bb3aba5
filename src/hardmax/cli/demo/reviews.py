"""The third part of `hardmax demo`: two reviews, read by a model that ships, and why it says what it says."""

from collections.abc import Mapping
from pathlib import Path

from hardmax.cli.output import print_text
from hardmax.cli.reports.phrases import say

MODEL = "imdb-2d"
STORY = (
    "The same dynamics reads film reviews: words are tokens in the plane, eight layers gather them round a few "
    "leaders. Most words follow the neutral leader and add nothing; the others are the words that count, and what they "
    "add is the score. That is the explanation, and it is exact."
)
REVIEWS = {
    "review-good": (
        "I went in expecting little and came out grinning. The script is sharp, the two leads are wonderful together, "
        "and the last ten minutes are among the best I have seen this year. Yes, it drags a little in the middle, but "
        "it is a great film and I will watch it again."
    ),
    "review-bad": (
        "An awful waste of a good cast. The plot makes no sense, the jokes are painfully dull, and after an hour I was "
        "only waiting for it to end. One of the worst films I have sat through; the music is excellent, nothing else."
    ),
}


def first_reviews(file: str) -> dict[str, str]:
    """The first two texts of a file: reviews that nobody chose for it."""
    from hardmax.text.corpora import read_corpus

    return {f"review-{n}": text for n, text in enumerate(read_corpus(file).texts[:2], 1)}


def tell_reviews(reviews: Mapping[str, str], folder: Path) -> list[Path]:
    """Shows why the model says what it says of two reviews; writes a page for each, and gives back what it wrote."""
    from hardmax.text.shipped import load

    model = load(MODEL)
    print()
    say(STORY)
    written = []
    for name, review in reviews.items():
        why = model.explain(review)
        print()
        say(review)
        print_text(why)
        written.append(folder / f"{name}.html")
        why.save(written[-1])
    return written
