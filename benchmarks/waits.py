"""Where people wait: this version beside an older one, in one run.

python benchmarks/waits.py OLD_SRC REVIEWS.parquet TRAINING.parquet [WORK ...]

OLD_SRC is the `src` folder of another commit (`git archive COMMIT src | tar -x -C FOLDER`). Every
work runs in a process of its own, old and new in turn, ROUNDS times (3, or of the environment); times are of the processor
(user and system), the medians. What is "fresh" starts with an empty NUMBA_CACHE_DIR. Rows go to
results/waits.csv."""

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from harness import add_rows

COLUMNS = ("work", "old_seconds", "new_seconds", "times_faster", "rounds")
ROUNDS = int(os.environ.get("ROUNDS", "3"))
NEW = Path(__file__).parents[1] / "src"
CLOUD = "x = np.random.default_rng(0).standard_normal"
# Each prepares, and then times the last line.
WORKS = {
    "removals of 40 reviews, sentiment-en": """model = hm.load_model("sentiment-en")
_ = model.predict(TEXTS), model.explain(max(TEXTS, key=len)).removals
whys = [model.explain(text) for text in TEXTS]
for why in whys: why.removals""",
    "removals of 40 reviews, imdb": """model = hm.load_model("imdb")
_ = model.predict(TEXTS), model.explain(max(TEXTS, key=len)).removals
whys = [model.explain(text) for text in TEXTS]
for why in whys: why.removals""",
    "softmax beside hardmax, n 100, five betas": f"""{CLOUD}((100, 2))
_ = hm.limit(x, hm.Dynamics(1))
hm.softmax_gap(x, hm.Dynamics(1), [1, 3, 10, 30, 100])""",
    "fresh: everything compiled": """from hardmax.cli.doctor import _compile_kernels
_compile_kernels()""",
    "fresh: limit, n 90, d 2": f"""{CLOUD}((90, 2))
hm.limit(x, hm.Dynamics(1)).leaders""",
    "fresh: limit, n 1,000, d 2": f"""{CLOUD}((1000, 2))
hm.limit(x, hm.Dynamics(1)).leaders""",
    "fresh: limit, n 1,000, d 3": f"""{CLOUD}((1000, 3))
hm.limit(x, hm.Dynamics(1)).leaders""",
    "fresh: explain, one sentence": """text = "An awful script, but the cast is great."
hm.load_model("sentiment-en").explain(text)""",
    "fresh: fit": """from hardmax.train.fitting import fit
fit(*TRAINING)""",
}
READ = """
def column(path, name): return parquet.read_table(path)[name].to_pylist()
texts = column(sys.argv[1], "text")
TEXTS = [texts[row] for row in np.linspace(0, len(texts) - 1, 40).astype(int)]
TRAINING = column(sys.argv[2], "text"), column(sys.argv[2], "label")
"""


def seconds(source: Path, work: str, files: list[str]) -> float:
    *prepare, timed = WORKS[work].splitlines()
    lines = ["import sys, time, numpy as np, pyarrow.parquet as parquet, hardmax as hm", READ]
    lines += [*prepare, "began = time.process_time()", timed]
    lines += ["print(time.process_time() - began)"]
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"PYTHONPATH": str(source)}
        if work.startswith("fresh"):
            environment |= {"NUMBA_CACHE_DIR": folder}
        command = [sys.executable, "-c", "\n".join(lines), *files]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def main(old: str, reviews: str, training: str, *works: str) -> None:
    for work in works or WORKS:
        times = [
            [seconds(source, work, [reviews, training]) for source in (Path(old), NEW)]
            for _ in range(ROUNDS)
        ]
        before, after = map(statistics.median, zip(*times, strict=True))
        row = (work, f"{before:.3f}", f"{after:.3f}", f"{before / after:.1f}", ROUNDS)
        print(*row, sep="  ", flush=True)
        add_rows("waits", COLUMNS, [row])


if __name__ == "__main__":
    main(*sys.argv[1:])
