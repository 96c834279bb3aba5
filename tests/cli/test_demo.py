"""`hardmax demo`: a limit with its proof, two reviews."""

import json

from hardmax import certificate, verify
from hardmax._common.validation import MissingExtra

PAGES = ["review-good.html", "review-bad.html"]


def test_the_demo_shows_a_limit_and_reviews(hardmax, here):
    outcome = hardmax("demo -o new/folder")
    folder = here / "new" / "folder"
    assert outcome.code == 0
    assert "4\t0.6\t0.8\tface 0, 3\t1\t4\n" in outcome.out
    assert "\naccepted: every point has its limit, settled at layer 0\n" in outcome.out
    assert "\npositive " in outcome.out
    assert "\nnegative " in outcome.out
    names = ["certificate.json", "limit.png", *PAGES]
    assert outcome.err.splitlines() == [f"wrote new/folder/{name}" for name in names]
    assert verify(json.loads((folder / "certificate.json").read_text()))
    assert (folder / "limit.png").read_bytes().startswith(b"\x89PNG")
    assert '<mark class="c' in (folder / "review-good.html").read_text()


def test_a_demo_whose_proof_is_refused_fails(hardmax, here, monkeypatch):
    (here / "refuse.py").write_text("print('refused: leaders')\nraise SystemExit(1)")
    monkeypatch.setattr(certificate, "__file__", str(here / "refuse.py"))
    outcome = hardmax("demo")
    assert outcome.code == 1
    assert "\nrefused: leaders\n" in outcome.out


def test_without_matplotlib_the_picture_is_left_out(hardmax, here, monkeypatch):
    def missing(*_):
        raise MissingExtra("Drawing", "figures")

    monkeypatch.setattr("hardmax.infinite_depth.Limit.plot", missing)
    outcome = hardmax("demo")
    assert outcome.code == 0
    assert "limit.png is left out: Drawing needs the extra `figures`" in outcome.err
    assert {path.name for path in (here / "demo").iterdir()} == {"certificate.json", *PAGES}
