"""
Score with Dask or Ray
======================

A table on a cluster is scored partition by partition, by one function. The graph holds the name of
the model, not its megabytes: loading it takes a moment in each partition. With Ray,
``dataset.map_batches(score, batch_format="pandas")`` takes the same function."""

import pandas as pd
import pyarrow as pa

import hardmax as hm
from hardmax.text import make_synthetic_corpus

# %%
# The function, from a pandas table to a pandas table. Columns of Arrow types do not change where
# rows have no answer, or there are none.


def score(part: pd.DataFrame) -> pd.DataFrame:
    """The rows of a partition with the answers of the model."""
    model = hm.load_model("sentiment-en")
    scored = model.score_table(pa.Table.from_pandas(part))
    return scored.to_pandas(types_mapper=pd.ArrowDtype)


# %%
# A Dask DataFrame stays lazy; ``meta`` says what columns there will be.
table = pd.DataFrame({"review": make_synthetic_corpus(600, seed=1).texts})
try:
    import dask.dataframe as dd
except ImportError:
    print("Dask is not installed: pip install 'dask[dataframe]'")
else:
    lazy = dd.from_pandas(table, npartitions=4)
    scored = lazy.map_partitions(score, meta=score(table.iloc[:0]))
    print(scored["probability"].mean().compute())
    assert scored.compute()["label"].tolist() == score(table)["label"].tolist()
