"""Screenshots of every page that people see, and what axe finds wrong with it.

    PYTHONPATH=tests python tools/screens.py [FOLDER]

Makes the explanation page and the page, takes the site's front page and gallery from
docs/_build/html if they are there, and writes each to FOLDER (build/screens): light, dark, on a
phone and in print. The exit code is 1 if axe reports a violation."""

import sys
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from browser import started_browser

import hardmax as hm
from hardmax.page import write_page
from hardmax.text.page import pack

ROOT = Path(__file__).parents[1]
SITE = ROOT / "docs/_build/html"
REVIEW = "It never gets boring, and the cast is wonderful. The script is not great."
WAYS: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1200, "height": 900}},
    "dark": {"viewport": {"width": 1200, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True},
    "print": {"viewport": {"width": 800, "height": 1100}},
}


def make_pages(folder: Path) -> dict[str, str]:
    """Addresses of the pages, by name."""
    model = hm.load_model("sentiment-en")
    model.explain(REVIEW).save(folder / "explanation.html")
    write_page(folder / "page.html", {"models": [pack(model)]})
    places = {path.stem: path.as_uri() for path in folder.glob("*.html")}
    places["texts"] = f"{places['page']}#room=texts"
    places["exercise"] = f"{places['page']}#cloud=triangle&ask=leaders"
    for name, page in (("site", "index.html"), ("gallery", "gallery/index.html")):
        if (SITE / page).exists():
            places[name] = (SITE / page).as_uri()
    return places


def main(folder: str = "build/screens") -> int:
    """Write every picture, and say what axe finds."""
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    places = make_pages(out)
    violations = 0
    with started_browser() as browser:
        for way, settings in WAYS.items():
            for name, place in places.items():
                context = browser.new_context(reduced_motion="reduce", **settings)
                page = context.new_page()
                page.goto(place)
                if way == "print":
                    page.emulate_media(media="print")
                page.wait_for_timeout(1500)
                page.screenshot(path=out / f"{name}-{way}.png", full_page=True)
                rules = [found["id"] for found in Axe().run(page).response["violations"]]
                violations += len(rules)
                print(f"{name:12} {way:6} axe: {', '.join(rules) or 'nothing'}", flush=True)
                context.close()
    return min(violations, 1)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
