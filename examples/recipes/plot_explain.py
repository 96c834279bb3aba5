"""
Explain a review
================

Why does the model call a review positive? Its active tokens add up to the score exactly, so they are the whole answer.
"""

import tempfile
from pathlib import Path

import hardmax as hm

review = """I went in expecting little and came out grinning. The script is sharp, the two leads are wonderful
together, and the last ten minutes are among the best I have seen this year. It drags in the middle, but it is a great
film."""

model = hm.load("imdb-2d")  # ships with the package
why = model.explain(review)
print(why)

# %%
# What each active token adds to the logit, and the leader that it follows. Nothing is sampled or approximated: with the
# tokens that follow the neutral leader (``rest``) and the bias, the votes are the logit.
for entry in why.active:
    print(f"{entry.vote:+.3f}  {entry.word:24} follows {entry.leader}")
total = why.bias + sum(entry.vote for entry in why.active) + why.rest
print(f"{total:+.3f}  total, and the logit is {why.logit:+.3f}")

# %%
# Where the tokens end: the half-planes are tinted by class, and the triangle is the mean of all tokens.
why.draw()

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
