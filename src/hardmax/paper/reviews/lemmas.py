"""Noun lemmas by WordNet: of the nouns that a word may be a form of, the shortest.

WordNet is not part of the package: its files `index.noun` and `noun.exc` are read from a folder, such as the one of
Debian's wordnet-base (version 3.0).
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from hardmax._validation import InputError

FOLDERS = ("/usr/share/wordnet", "/usr/local/share/wordnet", "/usr/local/WordNet-3.0/dict")
VARIABLE = "HARDMAX_WORDNET"

# How WordNet takes the ending of a noun in the plural off.
_ENDINGS = (
    ("s", ""),
    ("ses", "s"),
    ("ves", "f"),
    ("xes", "x"),
    ("zes", "z"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("men", "man"),
    ("ies", "y"),
)


@dataclass(frozen=True, eq=False, repr=False)
class NounLemmas:
    """The nouns of WordNet, all in lower case, and the forms that follow no rule."""

    nouns: frozenset[str]
    irregular: Mapping[str, tuple[str, ...]]

    def shortest(self, word: str) -> str:
        """The shortest noun that the word may be a form of, or the word itself: `Movies` is none, having a capital.

        >>> lemmas = NounLemmas(frozenset({"movie", "wolf", "us"}), {"wolves": ("wolf",)})
        >>> [lemmas.shortest(word) for word in ("movies", "wolves", "us", "Movies", "was")]
        ['movie', 'wolf', 'us', 'Movies', 'was']
        """
        if word in self.irregular:
            return min(self._known((word, *self.irregular[word])), key=len, default=word)
        forms = _without_endings((word,))
        found = self._known((word, *forms))
        while forms and not found:
            forms = _without_endings(forms)
            found = self._known(forms)
        return min(found, key=len, default=word)  # of two of one length the first, as WordNet lists its endings

    def _known(self, forms: Iterable[str]) -> list[str]:
        return [form for form in forms if form in self.nouns]


def read_lemmas(folder: str | Path) -> NounLemmas:
    """The nouns in a folder of WordNet's files."""
    try:
        # Lines that begin with a space are the licence.
        index = (Path(folder) / "index.noun").read_text("utf-8").splitlines()
        exceptions = (Path(folder) / "noun.exc").read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise InputError(
            f"`{folder}` is no folder of WordNet: expected the files index.noun and noun.exc in it, as in "
            f"{FOLDERS[0]} of Debian's wordnet-base."
        ) from None
    nouns = frozenset(line.split(" ", 1)[0] for line in index if line and not line.startswith(" "))
    forms = [line.split() for line in exceptions if line.strip()]
    return NounLemmas(nouns, {form: tuple(lemmas) for form, *lemmas in forms})


def find_lemmas() -> NounLemmas | None:
    """The nouns of the WordNet on this machine, or None. HARDMAX_WORDNET names its folder, if it is not a usual one."""
    named = os.environ.get(VARIABLE)
    if named:
        return read_lemmas(named)
    there = [folder for folder in FOLDERS if (Path(folder) / "index.noun").exists()]
    return read_lemmas(there[0]) if there else None


def _without_endings(forms: Iterable[str]) -> list[str]:
    return [form[: -len(old)] + new for form in forms for old, new in _ENDINGS if form.endswith(old)]
