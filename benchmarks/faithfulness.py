"""Whether the words that are said to matter do: ours beside LIME, SHAP and TF-IDF weights, on the same reviews.

python benchmarks/faithfulness.py TEST.parquet TRAIN.parquet [REVIEWS]

Every method explains what `imdb-2d` says of REVIEWS reviews (100), spread evenly over the file; rows go to
results/faithfulness.csv. Needs the extra `faithfulness`. TF-IDF learns its weights from the training reviews.
"""

# The peers are not part of the development environment.
# pyright: reportMissingImports=false
import sys
import warnings
from importlib.metadata import version

import numpy as np
from harness import CIRCUMSTANCES, add_rows, circumstances
from imdb import read

from hardmax.text.faithfulness.measuring import OURS, measure_faithfulness
from hardmax.text.faithfulness.peers import by_lime, by_shap, by_tfidf
from hardmax.text.shipped import load

MEASURES = ("comprehensiveness", "sufficiency", "comprehensiveness_at", "sufficiency_at", "flips", "aopc")
MEASURES += ("aopc_between_bounds", "kendall")
COLUMNS = (*CIRCUMSTANCES, "lime", "shap", "texts", "words_that_count", "attribution", *MEASURES, "ms", "times_ours")


def main(test: str, train: str, reviews: str = "100") -> None:
    warnings.simplefilter("ignore")  # the peers' own
    texts, *_ = read(test)
    rows = np.linspace(0, len(texts) - 1, int(reviews)).astype(int)
    peers = {
        "LIME": by_lime(),
        "SHAP (Partition)": by_shap(),
        "TF-IDF weights": by_tfidf(read(train)[0], read(train)[1].tolist()),
    }
    found = measure_faithfulness(load("imdb-2d"), [texts[row] for row in rows], peers)
    ours = next(row.seconds for row in found.rows if row.attribution == OURS)
    about = (*circumstances(), version("lime"), version("shap"), found.texts, f"{found.words_that_count:.1f}")
    written = []
    for row in found.rows:
        numbers = [f"{row.measures[name] or 0:.4f}" for name in MEASURES]
        written.append((*about, row.attribution, *numbers, f"{1e3 * row.seconds:.3f}", f"{row.seconds / ours:.1f}"))
        print(*written[-1][len(about) :], sep="  ", flush=True)
    add_rows("faithfulness", COLUMNS, written)


if __name__ == "__main__":
    main(*sys.argv[1:])
