"""
Score on a Dask cluster
=======================

Reviews in Parquet files are scored file by file, by one function, and written as Parquet files. The
graph holds the name of the model, not its megabytes: loading it takes a moment in each partition."""

import tempfile
from pathlib import Path

import dask.dataframe as dd
import pandas as pd
import pyarrow as pa
from dask.distributed import Client, LocalCluster

import hardmax as hm
from hardmax.text import make_synthetic_corpus

# %%
# The function, from a pandas table to a pandas table. Columns of Arrow types do not change where
# rows have no answer, or there are none.


def score(part: pd.DataFrame) -> pd.DataFrame:
    """The rows of a partition with the answers of the model."""
    model = hm.load_model("sentiment-en")
    scored = model.score_table(pa.Table.from_pandas(part, preserve_index=False))
    return scored.to_pandas(types_mapper=pd.ArrowDtype)


# %%
# Two workers here; for a cluster that is running, ``Client("tcp://scheduler:8786")``, and a folder
# that all workers can reach. ``meta`` says what columns there will be.
if __name__ == "__main__":
    folder = Path(tempfile.mkdtemp())
    (folder / "reviews").mkdir()
    table = pd.DataFrame({"review": make_synthetic_corpus(600, seed=1).texts})
    for number in range(4):
        part = table[150 * number : 150 * (number + 1)]
        part.to_parquet(folder / "reviews" / f"{number}.parquet", index=False)

    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    with cluster, Client(cluster):
        reviews = dd.read_parquet(folder / "reviews")
        scored = reviews.map_partitions(score, meta=score(reviews.head(0)))
        scored.to_parquet(folder / "scored")

    found = pd.read_parquet(folder / "scored")
    assert found["probability"].tolist() == score(table)["probability"].tolist()
    print(found["label"].value_counts())
