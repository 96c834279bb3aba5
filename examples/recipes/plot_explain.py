"""
Explain a review
================

Why does the model call a review positive? Its active tokens add up to the score exactly, so they
are the whole answer."""

import tempfile
from pathlib import Path

import hardmax as hm
from hardmax.text import make_reading

review = """I went in expecting little and came out grinning. The script is sharp, the two leads are wonderful
together, and the last ten minutes are among the best I have seen this year. It is long, but it never gets boring."""

model = hm.load_model("sentiment-en")  # ships with the package
why = model.explain(review)
print(why)

# %%
# What each active token adds to the logit. Nothing is sampled or approximated: with the bias, the votes are the logit.
for entry in why.active:
    print(f"{entry.vote:+.3f}  {entry.word}")
total = why.bias + sum(entry.vote for entry in why.active)
print(f"{total:+.3f}  total, and the logit is {why.logit:+.3f}")

# %%
# Which words attend to which modifiers, and what these multiply their votes by.
for link in why.links:
    print(f"{link.word} ← {link.modifier}, times {link.factor:g}")

# %%
# That is a layer of hardmax attention: the text is a cloud, and simulating its layers gives the votes, before they are
# divided by the size of the text.
reading = make_reading(model, review)
points = reading.cloud
for layer in reading.layers:
    points = hm.simulate(points, layer, layers=1).at(1)
print((points[:, 0] == reading.votes[:, 0]).all())

# %%
# The votes as bars:
why.plot()

# %%
# Which words would have to go for another answer? ``flip`` looks for the fewest, and states whether it proved that.
print(model.flip(review))

# %%
# The same as a page for a report, without scripts or network. On the command line:
# ``hardmax explain -f review.txt --html why.html``.
with tempfile.TemporaryDirectory() as folder:
    page = Path(folder) / "why.html"
    why.save(page)
    print(f"{page.name}: {page.stat().st_size:,} bytes")
