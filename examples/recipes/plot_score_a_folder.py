"""
Score a folder
==============

A folder of Parquet files, one command, and every row gets a label and a probability; ``--votes``
adds the words behind them. The command reads and writes in parts, so memory does not grow with the
number of rows, and an interrupted command continues where it stopped."""

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from hardmax.text import make_synthetic_corpus

# %%
# Some data: three files of synthetic reviews in a folder, partitioned by year.
work = Path(tempfile.mkdtemp())
for year in (2023, 2024, 2025):
    part = work / "reviews" / f"year={year}"
    part.mkdir(parents=True)
    pd.DataFrame({"review": make_synthetic_corpus(300, words=6, seed=year).texts}).to_parquet(
        part / "a.parquet"
    )

# %%
# In a shell this is ``hardmax score reviews -o scored.parquet --text review --votes``.
command = [sys.executable, "-m", "hardmax", "score", work / "reviews", "--text", "review"]
done = subprocess.run(
    [*command, "--votes", "-o", work / "scored.parquet"], capture_output=True, text=True, check=True
)
print(done.stdout or done.stderr)

# %%
# Partitions have become columns, and each row has its explanation: the active tokens and their votes.
scored = pd.read_parquet(work / "scored.parquet")
scored[["year", "label", "probability", "active"]].head()

# %%
# How sure is the model? Rows below 0.7 are for a person to read.
is_low = scored["probability"] < 0.7
figure, ax = plt.subplots(figsize=(6, 3))
bins = [0.5 + 0.025 * k for k in range(21)]
ax.hist(
    [scored.loc[is_low == low, "probability"] for low in (True, False)],
    bins=bins,
    stacked=True,
)
ax.legend(["a person", "the model"], frameon=False)
ax.set(
    xlabel="probability of the label",
    ylabel="rows",
    title=f"{is_low.mean():.0%} of {len(scored)} rows are for a person",
)
figure.tight_layout()
