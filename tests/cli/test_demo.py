"""`hardmax demo`: the difference that arithmetic makes, a limit with its proof, two reviews."""

import json
import re
import sys

import hardmax as hm
from hardmax import certificate, verify


def test_the_demo_shows_arithmetics_limit_and_reviews(hardmax, here):
    outcome = hardmax("demo -o new/folder")
    folder = here / "new" / "folder"
    assert outcome.code == 0
    assert "floats: token 4 ends at a vertex, 1.00 from its limit." in outcome.out
    assert "certified: token 4 ends on the edge" in outcome.out
    for depth in (10, 30, 100):
        left = (2 / 3) ** depth / 2  # of the way from (0.3, 0.4) to (0.6, 0.8)
        place = re.escape(f"({0.6 * (1 - left):.2f}, {0.8 * (1 - left):.2f})")
        assert re.search(rf"^{depth}\t.*\t{place}$", outcome.out, flags=re.MULTILINE)
    assert "4\t0.6\t0.8\tface 0, 3\t1\t4\n" in outcome.out
    assert "sees it:\naccepted: every point has its limit, settled at layer 0\n" in outcome.out
    assert "\npositive " in outcome.out
    assert "\nnegative " in outcome.out
    names = [
        "arithmetics.png",
        "certificate.json",
        "limit.png",
        "review-good.html",
        "review-bad.html",
    ]
    assert outcome.err.splitlines() == [f"wrote new/folder/{name}" for name in names]
    assert {path.name for path in folder.iterdir()} == set(names)
    assert verify(json.loads((folder / "certificate.json").read_text()))
    assert (folder / "arithmetics.png").read_bytes().startswith(b"\x89PNG")
    assert '<mark class="c' in (folder / "review-good.html").read_text()


def test_a_demo_whose_proof_is_refused_fails(hardmax, here, monkeypatch):
    (here / "refuse.py").write_text("print('refused: leaders')\nraise SystemExit(1)")
    monkeypatch.setattr(certificate, "__file__", str(here / "refuse.py"))
    outcome = hardmax("demo")
    assert outcome.code == 1
    assert "sees it:\nrefused: leaders\n" in outcome.out


def test_without_matplotlib_the_demo_leaves_out_the_pictures_and_says_so(
    hardmax, here, monkeypatch
):
    for name in [name for name in sys.modules if name.startswith("hardmax.figures.")]:
        monkeypatch.delitem(sys.modules, name)
        monkeypatch.delattr(hm.figures, name.rpartition(".")[2], raising=False)
    for name in ["matplotlib", "pandas", "pyarrow", "narwhals", "sklearn"]:
        monkeypatch.setitem(sys.modules, name, None)
    outcome = hardmax("demo")
    assert outcome.code == 0
    assert "certified: token 4 ends on the edge" in outcome.out
    assert "\nnegative " in outcome.out
    extra = "install hardmax[figures] (in a clone: pip install '.[figures]')"
    why = f"is left out: Drawing needs the extra `figures`: {extra}"
    written = ["certificate.json", "review-good.html", "review-bad.html"]
    assert outcome.err.splitlines() == [
        *(f"demo/{name} {why}" for name in ("arithmetics.png", "limit.png")),
        *(f"wrote demo/{name}" for name in written),
    ]
    assert {path.name for path in (here / "demo").iterdir()} == set(written)
