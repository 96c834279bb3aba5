"""An explanation: a few words that lead, and an account of the logit to which every word contributes its part."""

from dataclasses import dataclass
from pathlib import Path

from hardmax.checking import file_path
from hardmax.errors import InputError
from hardmax.foreign import harmless_json
from hardmax.text.explain.account import Account
from hardmax.text.explain.page import fragment, page
from hardmax.text.explain.showing import plain
from hardmax.tokens.files import write_whole


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Explanation(Account):
    """Why a model says what it says of a text, in two ledgers, which both add up: by leader, `bias` and the
    contributions of the `ledger` are the `logit`; by word, `bias`, the votes of those `counting` and the `rest` are.

    `towards` is the class for which positive numbers speak: the second of two classes, else the label itself.
    """

    def save(self, path: str | Path) -> None:
        """Write the explanation to a `.html`, `.json` or `.txt` file, whole or not at all."""
        path = file_path(path)
        suffix = path.suffix.lower()
        if suffix == ".json":
            content = harmless_json(self.to_dict(), indent=1) + "\n"
        elif suffix == ".txt":
            content = f"{self}\n"
        elif suffix in (".html", ".htm"):
            content = page(self)
        else:
            raise InputError(f"`path` has the suffix {suffix!r}: expected .html, .json or .txt.")
        write_whole(path, content.encode())

    def __str__(self) -> str:
        return plain(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return fragment(self)
