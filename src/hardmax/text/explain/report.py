"""Several texts explained on one page, with an index."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hardmax._files import write_whole
from hardmax._format import escape_html, pluralize
from hardmax._validation import InputError, check_path, shorten
from hardmax.text.explain.account import Account
from hardmax.text.explain.explanation import Explanation
from hardmax.text.explain.page import content, document, footer, opening, short_name
from hardmax.text.wording import format_probability

_OPENING = 110  # characters of each text in the index


def report(explanations: Iterable[Explanation], path: str | Path) -> None:
    """Write explanations, one below the other, to a `.html` file, whole or not at all; an index stands before them.

    >>> from hardmax import load, report
    >>> model = load("imdb-2d")
    >>> report([model.explain(text) for text in ("A great film.", "Awful.")], getfixture("tmp_path") / "two.html")
    """
    path = check_path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"`path` has the suffix {path.suffix!r}: expected .html.")
    told = _read(explanations)
    body = f"<main>{_index(told)}{''.join(_article(n, each) for n, each in enumerate(told, 1))}</main>"
    write_whole(path, document(f"{pluralize(len(told), 'text')} explained", body).encode())


def _read(explanations: Any) -> list[Account]:
    wish = "expected a list of explanations, as `model.explain(text)` gives them"
    if isinstance(explanations, Account) or not isinstance(explanations, Iterable):
        raise InputError(f"`explanations` is {shorten(explanations)}: {wish}.")
    told = list(explanations)
    if not told:
        raise InputError(f"`explanations` is empty: {wish}.")
    for each in told:
        if not isinstance(each, Account):
            raise InputError(f"`explanations` holds {shorten(each)}: {wish}.")
    return told


def _index(told: list[Account]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{n}</th><td><bdi>{escape_html(_name(each))}</bdi></td>'
        f"<td>{escape_html(format_probability(each.probability)) if each.decided else ''}</td>"
        f'<td class="hardmax-opening" dir="auto"><a href="#text-{n}">'
        f"{escape_html(opening(each.text, _OPENING) or '(empty)')}</a></td></tr>"
        for n, each in enumerate(told, 1)
    )
    labels = Counter(map(_name, told))
    sums = ", ".join(f"{number:,} <bdi>{escape_html(label)}</bdi>" for label, number in labels.most_common())
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("text", "label", "probability", "first words"))
    return (
        f'<nav class="hardmax" id="index" aria-label="Index"><h1 class="hardmax-verdict">'
        f"<strong>{pluralize(len(told), 'text')}</strong> explained</h1>"
        f'<p class="hardmax-told">{sums}.</p><table class="hardmax-index"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table></nav>"
    )


def _name(account: Account) -> str:
    return short_name(account.label) if account.decided else "undecided"


def _article(number: int, account: Account) -> str:
    name, back = f"Text {number}", '<p class="hardmax-note"><a href="#index">To the index</a></p>'
    return (
        f'<article class="hardmax" id="text-{number}" aria-label="{name}"><p class="hardmax-note">{name}</p>'
        f"{content(account, 'h2')}{footer(account)}{back}</article>"
    )
