"""`make soak`: many adversarial problems, every one repeatable by its number. Exit code 1 if any
answer is wrong.

python -m soak                          20,000 problems on all cores
python -m soak --problems 500 --start 7000
python -m soak --seconds 600            as many as ten minutes allow
python -m soak --only 4711              one problem, in full words
python -m soak --start 1000000 --problems 5000      metrics that are hard, and very many dimensions
"""

import argparse
import os
import sys
import time
from pathlib import Path

# Before anything that starts threads: each process works alone.
for variable in ("NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
if not Path("/dev/nvidiactl").exists():
    os.environ.setdefault("TRITON_INTERPRET", "1")


def main() -> int:
    from soak.running import judge_number, run

    parser = argparse.ArgumentParser(
        prog="soak", description="Adversarial problems against integers."
    )
    parser.add_argument("--problems", type=int, default=20_000, help="how many (default 20,000)")
    parser.add_argument(
        "--start",
        type=int,
        default=0,
        help="the number of the first one: where an earlier run ended",
    )
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="start no problem after so long"
    )
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="how many at a time")
    parser.add_argument(
        "--patience", type=float, default=300, help="a problem that takes longer counts as wrong"
    )
    parser.add_argument(
        "--device", action="store_true", help="the problems of the GPU, at every size"
    )
    parser.add_argument("--only", type=int, help="one problem, with all that is wrong")
    parser.add_argument(
        "--failures", type=Path, default=Path("build/soak-failures.txt"), help="where they are kept"
    )
    asked = parser.parse_args()
    if asked.only is not None:
        checked = judge_number(asked.only, device=asked.device, patience=1e6)
        print(
            f"{checked}\n{checked.rows:,} rows, {len(checked.wrong)} wrong, {checked.seconds:.2f} s"
        )
        return 1 if checked.wrong else 0
    limits = {
        "device": asked.device,
        "patience": asked.patience,
        "until": time.time() + asked.seconds,
    }
    return run(
        range(asked.start, asked.start + asked.problems), asked.processes, asked.failures, **limits
    )


if __name__ == "__main__":
    sys.exit(main())
