"""
SHAP and LIME beside the votes
==============================

SHAP and LIME explain any classifier by trying changed texts. The votes of ``hardmax`` are not an
estimate: they add up to the logit. Here all three say which words of one text matter. The two are
in the dependency group ``bench`` (``pip install --group bench``).
"""

import re

import matplotlib.pyplot as plt
import numpy as np

import hardmax as hm

model = hm.load_model("sentiment-en")
text = "The script is awful and dull, but it never gets boring and the cast is wonderful."
why = model.explain(text)
print(why)

# %%
# The vote of a phrase goes to its words in equal parts.
words = re.findall(r"\w+", text)
ends = np.cumsum([len(piece) for piece in re.findall(r"\w+|\W+", text)])[::2]
votes = np.zeros(len(words))
for entry in why.active:
    for first, last in entry.spans:
        inside = [n for n, end in enumerate(ends) if first < end <= last]
        votes[inside] += entry.vote / (len(inside) * entry.count)
found = {"votes (logit)": votes}

# %%
# SHAP's Partition explainer and LIME, both for the probability of "positive". What is not installed
# is left out.
try:
    import shap  # pyright: ignore[reportMissingImports]

    explainer = shap.Explainer(
        lambda texts: model.predict_proba(list(map(str, texts))),
        shap.maskers.Text(r"\W+"),
        silent=True,
    )
    told = explainer([text], max_evals=500)
    pieces = [piece.strip(" ,.") for piece in told.data[0]]
    found["SHAP (probability)"] = told.values[0][[bool(piece) for piece in pieces], 1]
except ImportError:
    print("SHAP is not installed: pip install shap")
try:
    from lime.lime_text import LimeTextExplainer  # pyright: ignore[reportMissingImports]

    explainer = LimeTextExplainer(bow=False, random_state=0)
    told = explainer.explain_instance(text, model.predict_proba, num_features=len(words))
    weights = dict(told.as_map()[1])
    found["LIME (probability)"] = np.array([weights.get(n, 0.0) for n in range(len(words))])
except ImportError:
    print("LIME is not installed: pip install lime")

# %%
# One panel each. *never* turns *boring* into praise: the vote of *boring* says so, with its reason
# in the table above; the others give a part of the effect to *never*.
fig, axes = plt.subplots(
    1, len(found), figsize=(3 * len(found), 4), sharey=True, squeeze=False, layout="constrained"
)
for ax, (name, values) in zip(axes[0], found.items(), strict=True):
    ax.barh(range(len(words)), values, color=np.where(values > 0, "#0072B2", "#D55E00"))
    ax.axvline(0, color="0.5", lw=0.8)
    ax.set_title(name)
axes[0, 0].set_yticks(range(len(words)), words)
axes[0, 0].invert_yaxis()
plt.show()
