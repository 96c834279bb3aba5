"""README.md as the package index shows it: there, only absolute links and pictures work.

Called by hatchling when the package is built. The address is that of `[project.urls]`."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

# [text](target) or ![text](target), unless the target is an address or a place in the same page
RELATIVE_LINK = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?!\w+:|#)(?P<target>[^)\s]+)\)")


class AbsoluteReadme(MetadataHookInterface):
    """Sets the field `readme` of the metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        repository = metadata["urls"]["Repository"]
        # A release is described as it was, not as `main` goes on.
        version = metadata["version"]
        commit = "main" if ".dev" in version else f"v{version}"
        text = absolute_links(readme, repository, commit)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def absolute_links(text: str, repository: str, commit: str) -> str:
    """The text with links to files of the repository at a commit, branch or tag."""

    def absolute(link: re.Match[str]) -> str:
        kind = "raw" if link["picture"] else "blob"
        address = f"{repository}/{kind}/{commit}/{link['target']}"
        return f"{link['picture']}[{link['text']}]({address})"

    return RELATIVE_LINK.sub(absolute, text)
