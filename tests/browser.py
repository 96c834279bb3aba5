"""A page in Debian's Chromium, without a network, and whatever it says, asks for or does."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
in_browser = pytest.mark.skipif(
    CHROMIUM is None, reason="Chromium is not installed (apt-get install chromium)"
)

# The frames in which something was drawn, in milliseconds since the page was asked for.
FRAMES = """
window.frames_drawn = []
const begin = CanvasRenderingContext2D.prototype.beginPath
CanvasRenderingContext2D.prototype.beginPath = function () {
    const now = document.timeline.currentTime
    if (window.frames_drawn.at(-1) !== now) window.frames_drawn.push(now)
    return begin.call(this)
}
"""

# Where the cursor shows that a token can be grabbed, as (x, y) in the window.
PLACES = """canvas => {
    const box = canvas.getBoundingClientRect(), found = []
    for (let x = box.left + 4; x < box.right; x += 6)
    for (let y = box.top + 4; y < box.bottom; y += 6) {
        canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: x, clientY: y }))
        if (canvas.style.cursor === "grab") found.push([x, y])
    }
    return found
}"""


@contextmanager
def started_browser() -> Iterator[Any]:
    api: Any = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as started:
        rooted = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium has no sandbox for root
        opened = started.chromium.launch(executable_path=CHROMIUM, args=rooted)
        yield opened
        opened.close()


class Watched:
    """A page, and in `heard` all that a quiet one does not do. Nothing but itself, its blobs and
    data can be loaded."""

    def __init__(self, browser: Any, width: int = 1200, height: int = 1000, **context: Any) -> None:
        self.context = browser.new_context(viewport={"width": width, "height": height}, **context)
        self.context.set_offline(True)
        self.context.route(
            lambda url: not url.startswith(("file:", "blob:", "data:")), lambda route: route.abort()
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(10_000)
        self.heard: list[str] = []
        self.own = ""
        self.page.on("console", lambda message: self.heard.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.heard.append(f"error: {error}"))
        self.page.on("request", self._requested)
        self.page.on("dialog", lambda dialog: (self.heard.append("dialog"), dialog.dismiss()))

    def _requested(self, request: Any) -> None:
        if request.url.split("#")[0] != self.own and not request.url.startswith(("blob:", "data:")):
            self.heard.append(request.url)

    def open(self, path: Path, fragment: str = "") -> Any:
        self.own = path.as_uri()
        self.page.goto(f"{self.own}#{fragment}" if fragment else self.own)
        return self.page

    def __enter__(self) -> "Watched":
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()
