"""
Train on a table
================

From a table of texts and labels to a classifier in a few lines, next to TF-IDF with logistic
regression."""

import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from hardmax.sklearn import HardmaxClassifier
from hardmax.text import make_synthetic_corpus

# %%
# Replace this table with your own: ``pd.read_csv("reviews.csv")``. Here the texts are synthetic, and six words of each
# class carry it, so we know what a model should find.
corpus = make_synthetic_corpus(600, words=6, seed=0)
table = pd.DataFrame({"review": corpus.texts, "sentiment": corpus.labels})
train = table.sample(frac=0.75, random_state=0)
test = table.drop(train.index)
table.head(3)

# %%
# Modifiers, word vectors, gate and regularisation are chosen on held-out parts of the training texts.
clf = HardmaxClassifier().fit(train["review"], train["sentiment"])
peer = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), LogisticRegression(C=10))
peer.fit(train["review"], train["sentiment"])
for name, each in {"hardmax": clf, "TF-IDF + logistic regression": peer}.items():
    print(f"{name:30} {each.score(test['review'], test['sentiment']):.1%}")

# %%
# The tokens with the largest weights. Compare them with the words that carry the class:
clf.model_.plot(top=8)
print("negative:", *corpus.words["negative"])
print("positive:", *corpus.words["positive"])

# %%
# Which texts does it get wrong, and what did it see in them?
predicted = clf.predict(test["review"])
wrong = test[predicted != test["sentiment"]]
print(len(wrong), "of", len(test), "wrong")
for text, label in wrong.head(2).itertuples(index=False):
    print(f"\n{label}, but read as:")
    print(clf.explain(text))

# %%
# ``clf.model_.save("my-model")`` writes a folder that ``hm.load_model`` and every command take. The same on the command line:
#
# .. code-block:: sh
#
#     hardmax train reviews.csv --text review --label sentiment -o my-model
#     hardmax evaluate my-model unseen.csv
