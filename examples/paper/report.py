"""Run every script of this folder and collect figures and numbers in one page.

    python examples/paper/report.py paper                       no data needed python
    examples/paper/report.py paper --data IMDB-FOLDER    train the four classifiers again first

The folder holds `train.parquet` and `test.parquet` of IMDb and, if you have them,
`authors_first_2000.parquet` (which reviews come first in the authors' order) and
`authors_model_d2.pth` (their weights). Training takes 7 minutes on an H200 and many hours on a CPU;
WordNet's `index.noun` and `noun.exc` are read from `--wordnet`."""

import argparse
import ast
import base64
import contextlib
import io
import json
import os
import re
import runpy
import shutil
import sys
import time
from pathlib import Path

import jinja2

HERE = Path(__file__).parent
ORDER = ("figure1", "figure2", "figure3", "figure4", "figure5", "reviews", "accuracy", "losses", "two_outcomes",
         "histogram", "table1", "rank_one", "clustering")  # fmt: skip
PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>The paper, figure by figure</title>
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 62rem; margin: auto; padding: 1rem; }
img { max-width: 100%; background: white; border-radius: 4px; }
pre { overflow-x: auto; font-size: .8rem; padding: .6rem; background: color-mix(in srgb, currentColor 7%, #0000); }
h2 { margin-top: 3rem; } nav a { display: inline-block; margin-right: 1em; }
</style>
<h1>The paper, figure by figure</h1>
<p>Alcalde, Fantuzzi and Zuazua, <em>Clustering in pure-attention hardmax transformers and its role in sentiment
analysis</em> (2025), beside the authors’ own numbers. {{ note }}</p>
<nav>{% for s in sections %}<a href="#{{ s.name }}">{{ s.title }}</a> {% endfor %}</nav>
{% for s in sections %}
<h2 id="{{ s.name }}">{{ s.title }}</h2>
{% for p in s.paragraphs %}<p>{{ p }}</p>{% endfor %}
{% for image in s.images %}<p><img alt="{{ s.title }}" src="data:image/png;base64,{{ image }}"></p>{% endfor %}
{% if s.output %}<pre>{{ s.output }}</pre>{% endif %}
<p><small>plot_{{ s.name }}.py, {{ s.seconds }} s</small></p>
{% endfor %}
</html>
"""


def run_script(name: str) -> dict:
    """Run one script without a display and return its text, its figures and what it prints."""
    import matplotlib.pyplot as plt

    path, printed, began = HERE / f"plot_{name}.py", io.StringIO(), time.perf_counter()
    plt.close("all")
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(path))
    images = []
    for number in plt.get_fignums():
        picture = io.BytesIO()
        plt.figure(number).savefig(picture, dpi=110, format="png")
        images.append(base64.b64encode(picture.getvalue()).decode())
    title, _, text = (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").split("\n", 2)
    plain = re.sub(
        r"``?|\*",
        "",
        re.sub(r":math:`(.*?)`", lambda formula: _plain(formula[1]), text, flags=re.S),
    )
    return {
        "name": name,
        "title": title,
        "paragraphs": plain.strip().split("\n\n"),
        "images": images,
        "output": printed.getvalue(),
        "seconds": round(time.perf_counter() - began, 1),
    }


def _plain(formula: str) -> str:
    """A short formula as text."""
    signs = {
        r"\langle": "⟨",
        r"\rangle": "⟩",
        r"\ge": "≥",
        r"\mapsto": "↦",
        r"\alpha": "α",
        r"\{": "{",
        r"\}": "}",
    }
    for sign, letter in signs.items():
        formula = formula.replace(sign, letter)
    raised = str.maketrans("-012KT", "⁻⁰¹²ᴷᵀ")
    formula = re.sub(r"\^\{?(-?\w)\}?", lambda power: power[1].upper().translate(raised), formula)
    return re.sub(
        r"_(\w)", lambda index: index[1].translate(str.maketrans("01234i", "₀₁₂₃₄ᵢ")), formula
    )


def train_again(folder: Path, wordnet: Path, device: str, out: Path) -> str:
    """Prepare the reviews, train in all dimensions, measure leaders; the numbers go to `out`."""
    import measure
    import numpy as np
    import prepare
    import train

    began = time.perf_counter()
    out.mkdir(parents=True, exist_ok=True)
    for name in ("authors", "training", "leaders", "clustering"):
        shutil.copy(HERE / "data" / f"{name}.json", out)
    head, theirs = folder / "authors_first_2000.parquet", folder / "authors_model_d2.pth"
    prepare.prepare(folder, out / "ids.npz", head if head.exists() else None, wordnet)
    held, kept = np.load(out / "ids.npz"), json.loads((out / "training.json").read_text())
    for d in train.DIMENSIONS:
        curves, weights = train.train(
            held["ids"], held["labels"], int(held["rows"]), d, device=device
        )
        kept["curves"][str(d)] = curves
        np.savez(out / f"d{d}.npz", **weights)  # pyright: ignore[reportArgumentType]
        (out / "training.json").write_text(json.dumps(kept))
    found = json.loads((out / "leaders.json").read_text())
    measure.main(out / "ids.npz", out, out / "leaders.json", theirs if theirs.exists() else None)
    found |= json.loads((out / "leaders.json").read_text())
    (out / "leaders.json").write_text(json.dumps(found))
    return f"The classifiers were trained again on {device}, in {(time.perf_counter() - began) / 60:.0f} minutes."


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("output", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--wordnet", type=Path, default=Path("/usr/share/wordnet"))
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    os.environ["MPLBACKEND"] = "Agg"
    sys.path.insert(0, str(HERE))
    note = "The classifiers are those kept with the scripts, trained on one H200 in 7 minutes."
    if options.data:
        note = train_again(options.data, options.wordnet, options.device, options.output / "data")
        os.environ["HARDMAX_PAPER"] = str((options.output / "data").resolve())
        os.environ["HARDMAX_IMDB"] = str(options.data.resolve())
    sections = []
    for name in ORDER:
        sections.append(run_script(name))
        print(f"plot_{name}.py: {sections[-1]['seconds']} s", flush=True)
    options.output.mkdir(parents=True, exist_ok=True)
    page = (
        jinja2.Environment(autoescape=True).from_string(PAGE).render(sections=sections, note=note)
    )
    (options.output / "report.html").write_text(page, "utf-8")
    print(f"wrote {options.output / 'report.html'}")


if __name__ == "__main__":
    main()
