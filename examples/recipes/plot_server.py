"""
Serve a model over HTTP
=======================

A FastAPI application with two endpoints: ``/predict`` has label and probability of many texts,
``/explain`` the votes behind one label. Install it with ``pip install fastapi 'uvicorn[standard]'``
and start it with ``uvicorn plot_server:app``. The browser then shows its documentation at
http://127.0.0.1:8000/docs."""

from typing import Annotated, Any

from fastapi import Body, FastAPI
from pydantic import BaseModel, Field

import hardmax as hm

# %%
# A few short texts are read by plain Python, because compiling kernels takes seconds. A server would
# compile them later, while calls wait, so it should read many texts before it starts. What was
# compiled is kept on disk, so the next start takes two or three seconds.
model = hm.load_model("sentiment-en")
model.predict(["An awful script, but the cast is great."] * 2000)

# %%
# Reading a sentence takes less time than handing it to a thread, so ``predict`` is ``async``. An
# explanation of a long text takes longer: ``explain`` runs in a thread, and other calls do not wait.
app = FastAPI(title="hardmax")
Text = Annotated[str, Field(max_length=20_000)]


class Answer(BaseModel):
    """What the model says of a text."""

    label: str
    probability: float
    decided: bool


@app.post("/predict")
async def predict(texts: Annotated[list[Text], Body(embed=True, max_length=100)]) -> list[Answer]:
    """Label and probability of each text."""
    analysis = model.analyse(texts)
    numbers, probabilities = analysis.predicted, analysis.probabilities.max(axis=1)
    rows = zip(numbers, probabilities, analysis.decided, strict=True)
    return [Answer(label=model.classes[n], probability=p, decided=d) for n, p, d in rows]


@app.post("/explain")
def explain(text: Annotated[Text, Body(embed=True)]) -> dict[str, Any]:
    """The votes of the words of a text."""
    return model.explain(text).to_dict()


# %%
# Calls without a server, as a test makes them (``pip install httpx2``).
if __name__ == "__main__":
    from fastapi.testclient import TestClient

    client = TestClient(app)
    texts = ["It never gets boring, and the cast is great.", "What a bore."]
    print(client.post("/predict", json={"texts": texts}).json())
    explanation = client.post("/explain", json={"text": texts[0]}).json()
    print({entry["word"]: round(entry["vote"], 3) for entry in explanation["ledger"]})

# %%
# A sentence takes about a millisecond of processor time, half of it for HTTP and JSON
# (``python benchmarks/serve.py``). Use more cores with ``uvicorn plot_server:app --workers 4``.
