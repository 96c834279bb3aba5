"""Show what the package does, on a cloud and two film reviews.

Finds the limit of a cloud, checks the proof, and draws it; then classifies two reviews and explains
why. Pictures need the extra figures; without it they are left out."""

import subprocess
import sys
from argparse import Namespace
from pathlib import Path

from hardmax._common.files import make_folder
from hardmax._common.validation import MissingExtra
from hardmax.cli import options as opt
from hardmax.cli.output import notify, print_text

CLOUD = """\
The paper's "non-leader clusters": a square of four leaders, the tokens
(1/2, 0) and (-1/2, 0), and four more, rotated by the angle of the 3-4-5
triangle; alpha is 1/2 and A the identity. In floats the ties of tokens 4 and
5 are lost. The exact limit after infinitely many layers: every leader stays
at its vertex, its followers end there, and tokens 4 and 5 end at the point of
an edge that is closest to the origin, (3/5, 4/5) and (-3/5, -4/5).
"""
TEXTS = """
The text classifier. Each word votes for one of two labels, and words such as
"not" change the votes of the words that follow. The votes add up to the
score. Two film reviews:"""
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


OPTIONS = {
    "-o --output": opt.value("FOLDER", "Folder for pictures, pages, proof.", default="demo"),
}


def run(args: Namespace) -> int:
    """The command."""
    folder = Path(args.output)
    make_folder(folder, "`output`")
    code = _show_limit(folder)
    from hardmax.text.shipped import load_model

    model = load_model(opt.DEFAULT_MODEL)
    print_text(TEXTS)
    for name, review in REVIEWS.items():
        explanation = model.explain(review)
        print_text(f"\n{review}\n\n{explanation}")
        explanation.save(folder / f"{name}.html")
        notify(f"wrote {folder / name}.html")
    return code


def _show_limit(folder: Path) -> int:
    from hardmax import Dynamics, certificate, clouds, limit
    from hardmax.cli.limit import document, show

    lim = limit(clouds.rotated(clouds.nonleader_clusters()), Dynamics("1/2"))
    print_text(CLOUD)
    show(document(lim))
    proof = folder / "certificate.json"
    opt.save(lim.prove(), str(proof))
    command = [sys.executable, "-I", "-S", certificate.__file__, str(proof)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    print_text(f"\nThe proof, checked by `python certificate.py {proof.name}`:\n{done.stdout}")
    try:
        opt.write_picture(str(folder / "limit.png"), lim.plot().figure)
    except MissingExtra as error:
        notify(f"limit.png is left out: {error}")
    return done.returncode
