"""
In a notebook
=============

Runs, limits, models and explanations display themselves. Download this page as a notebook with the
link at the bottom, or type the cells into your own."""

import hardmax as hm

half = hm.Dynamics(alpha="1/2")
run = hm.simulate(hm.clouds.emerging_leader(), half, layers=10)
run

# %%
# A limit shows its clusters, with stars for leaders.
lim = hm.limit(hm.clouds.nonleader_clusters(), half)
lim

# %%
# Tables, when you need them:
lim.to_pandas()

# %%
# Many clouds are one object, too.
hm.limit([hm.clouds.gaussian(40, 2, seed=seed) for seed in range(6)], half)

# %%
# A text model shows its heaviest tokens, an explanation its text.
model = hm.load_model("sentiment-en")
model

# %%
model.explain("It never gets boring.")

# %%
# ``plot`` draws on matplotlib axes; ``run.save("run.gif")`` writes a film, one frame per layer.
axes = run.plot(layers=[0, 1, 2, 10])
