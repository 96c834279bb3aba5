"""`hardmax demo`: what the package does, on a cloud and two film reviews that ship with it."""

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

from typer import Exit, Option

from hardmax._common.files import make_folder
from hardmax._common.validation import MissingExtra
from hardmax.cli.options import DEFAULT_MODEL
from hardmax.cli.output import notify, print_table, print_text

WATCHED = (4, 5)
DEPTHS = (10, 30, 100)
CLOUD = """\
The paper's "non-leader clusters": a square of four leaders, the tokens
(1/2, 0) and (-1/2, 0), and four more, rotated by the angle of the 3-4-5
triangle; alpha is 1/2 and A the identity. Tokens 4 and 5 each attend to both
ends of an edge and tend to its midpoint, (3/5, 4/5) and (-3/5, -4/5).
Token 4 in three arithmetics:"""
LIMIT = """
The exact limit after infinitely many layers: every leader stays at its
vertex, its followers end there, and tokens 4 and 5 end at the point of an
edge that is closest to the origin.
"""
TEXTS = """
The text classifier: words and phrases are tokens, and each active one has a
vote, which a word before it may change ("never boring"). The votes add up to
the score, so they are the explanation. Two film reviews:"""
REVIEWS = {
    "review-good": """\
I went in expecting little and came out grinning. The script is sharp, the two
leads are wonderful together, and the last ten minutes are among the best I
have seen this year. Yes, it drags a little in the middle, but it is a great
film and I will watch it again.""",
    "review-bad": """\
An awful waste of a good cast. The plot makes no sense, the jokes are painfully
dull, and after an hour I was only waiting for it to end. One of the worst
films I have sat through; the music is excellent, nothing else.""",
}


def demo_command(
    output: Annotated[
        Path, Option("--output", "-o", help="Folder for pictures, pages, proof.")
    ] = Path("demo"),
) -> None:
    """Show what the package does, on a cloud and two film reviews.

    Runs the cloud in floating point and exactly, finds its limit, checks the proof, and draws both;
    then classifies two reviews and explains why. Pictures need the extra figures; without it they
    are left out."""
    make_folder(output, "`--output`")
    for path in (*_show_arithmetics(output), *_show_limit(output), *_show_reviews(output)):
        notify(f"wrote {path}")


def _show_arithmetics(folder: Path) -> list[Path]:
    import numpy as np

    from hardmax import Dynamics, clouds, simulate

    cloud = clouds.rotated(clouds.nonleader_clusters())
    arithmetics = {"floats": "float", "certified": "certified"}
    runs = {
        name: simulate(cloud, Dynamics("1/2"), layers=DEPTHS[-1], arithmetic=arithmetic)
        for name, arithmetic in arithmetics.items()
    }
    print_text(CLOUD)
    paths = [np.asarray(run)[:, WATCHED[0]] for run in runs.values()]
    rows = [
        [depth, *(f"({path[depth, 0]:.2f}, {path[depth, 1]:.2f})" for path in paths)]
        for depth in DEPTHS
    ]
    print_table(["layer", *runs], [*rows, ["proved", *(run.certified for run in runs.values())]])
    goals = runs["certified"].at(DEPTHS[-1])[list(WATCHED)]
    for name, path in zip(runs, paths, strict=True):
        error = float(np.linalg.norm(path[-1] - goals[0]))
        where = (
            "on the edge, as it should"
            if error < 1e-9
            else f"at a vertex, {error:.2f} from its limit"
        )
        print_text(f"{name}: token 4 ends {where}.")
    return _draw(folder / "arithmetics.png", "layers.arithmetics_figure", runs, WATCHED, goals)


def _show_limit(folder: Path) -> list[Path]:
    from hardmax import Dynamics, certificate, clouds, limit
    from hardmax.cli.limit import document, show_limit

    lim = limit(clouds.rotated(clouds.nonleader_clusters()), Dynamics("1/2"))
    print_text(LIMIT)
    show_limit(lim, document(lim))
    proof = folder / "certificate.json"
    lim.prove().save(proof)
    command = [sys.executable, "-I", "-S", certificate.__file__, proof]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    print_text(
        f"The proof, as `python certificate.py {proof}` sees it:\n{done.stdout or done.stderr}"
    )
    if done.returncode:
        raise Exit(done.returncode)
    return [proof, *_draw(folder / "limit.png", "limits.limit_figure", lim)]


def _draw(path: Path, function: str, *data: Any) -> list[Path]:
    """Write a figure; without matplotlib the demo goes on, and says what is missing."""
    module, name = function.split(".")
    try:
        figures = importlib.import_module(f"hardmax.figures.{module}")
    except MissingExtra as error:
        notify(f"{path} is left out: {error}")
        return []
    figures.style.save_figure(getattr(figures, name)(*data), path)
    return [path]


def _show_reviews(folder: Path) -> list[Path]:
    from hardmax.text.shipped import load_model

    model = load_model(DEFAULT_MODEL)
    print_text(TEXTS)
    for name, review in REVIEWS.items():
        explanation = model.explain(review)
        voting = f"{len(explanation.active)} of {len(explanation.ledger)} known tokens vote."
        print_text(f"\n{review}\n\n{voting}\n{explanation}")
        explanation.save(folder / f"{name}.html")
    return [folder / f"{name}.html" for name in REVIEWS]
