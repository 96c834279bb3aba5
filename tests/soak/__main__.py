"""`make soak`: many adversarial problems, every one repeatable by its number. Exit code 1 if any
answer is wrong.

python -m soak                          20,000 problems on all cores
python -m soak --problems 500 --start 7000
python -m soak --seconds 600            as many as ten minutes allow
"""

import argparse
import os
import sys
import time
from functools import partial
from multiprocessing import get_context
from pathlib import Path

# Before anything that starts threads: each process works alone.
for variable in ("NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
if not Path("/dev/nvidiactl").exists():
    os.environ.setdefault("TRITON_INTERPRET", "1")


def main() -> int:
    from soak.checks import answer

    parser = argparse.ArgumentParser(prog="soak", description="Hard problems against integers.")
    parser.add_argument("--problems", type=int, default=20_000)
    parser.add_argument("--start", type=int, default=0, help="the number of the first one")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin none after that")
    parser.add_argument("--device", action="store_true", help="all problems for the GPU")
    asked = parser.parse_args()
    done = wrong = 0
    judged = partial(answer, until=time.time() + asked.seconds, device=asked.device)
    numbers = range(asked.start, asked.start + asked.problems)
    with get_context("spawn").Pool(1 if asked.device else None) as pool:
        for said in pool.imap_unordered(judged, numbers, chunksize=10):
            done += said is not None
            if said:
                wrong += 1
                print(said, file=sys.stderr, flush=True)
    print(f"{done:,} problems, {wrong:,} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
