"""
In a notebook
=============

Every result says what it is in one line, draws itself with ``plot``, and is a table with
``to_pandas``. An explanation shows its text.
"""

import hardmax as hm

# %%
half = hm.Dynamics("1/2")
lim = hm.limit(hm.clouds.gaussian(60, 2, seed=4), half)
lim

# %%
lim.plot()

# %%
# A run draws one layer; ``run.save("run.gif")`` writes a film, one frame per layer.
run = hm.simulate(hm.clouds.gaussian(60, 2, seed=4), half, layers=10)
run.plot(2)

# %%
hm.load_model("sentiment-en").explain("It never gets boring.")
