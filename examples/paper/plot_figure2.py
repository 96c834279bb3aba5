"""
Figure 2: four clouds over the layers
=====================================

Tokens of four clouds (rows) at layers 0, 1, 2, 5 and 30 (columns), for alpha = 1/2 and A = I.
All 37 starting positions are the authors', read from the vector graphic of their figure;
``hm.clouds`` has them.

Stars attend to themselves alone. A circle has the colour of the token it follows, or is grey if
there are several. The hull of the leaders is
shaded: every token converges to one of its vertices or, in the last row, to the middle of an edge,
where no leader is."""

import matplotlib.pyplot as plt

import hardmax as hm

LAYERS = (0, 1, 2, 5, 30)
CLOUDS = {
    "triangle": hm.clouds.triangle(),
    "emerging leader": hm.clouds.emerging_leader(),
    "square": hm.clouds.square(),
    "non-leader clusters": hm.clouds.nonleader_clusters(),
}

# %%
# Coordinates are fractions, so that 1/3 is a third. The limits are exact, with a proof that no
# attended set changes after the layer in the fourth column, and Theorem 1.1 and the separation of
# Figure 5 are checked statement by statement.
print(f"{'cloud':20} tokens  leaders  settled at layer  statements that hold")
limits = {name: hm.limit(tokens, hm.Dynamics(alpha="1/2")) for name, tokens in CLOUDS.items()}
for name, limit in limits.items():
    verdicts = [statement.verdict for statement in hm.check_theorem(limit)]
    row = f"{name:20} {len(CLOUDS[name]):6}  {len(limit.leaders):7}  {limit.settled_at:16}"
    print(f"{row}  {verdicts.count('holds')} of {len(verdicts)}")

# %%
# The first row settles at layer 1: the token at (0.1, -0.2) first follows a token that is no leader. In the second
# row a token becomes a leader at layer 1 only.
figure, panels = plt.subplots(4, len(LAYERS), figsize=(10, 8.4), layout="constrained")
for row, (name, limit) in zip(panels, limits.items(), strict=True):
    limit.run.plot(LAYERS, ax=row)
    for ax in row:
        ax.set(xticks=[], yticks=[], xlabel="", ylabel="")
        if name != "triangle":
            ax.set_title("")
    row[0].set_ylabel(name)
plt.show()

# %%
# Not all limits are leaders: two tokens of the last row end in the middle of an edge.
for name, limit in limits.items():
    leaders = {tuple(point) for point in limit.exact_limit_points()[limit.leaders].tolist()}
    others = sorted(
        {
            tuple(map(str, point))
            for point in limit.exact_limit_points().tolist()
            if tuple(point) not in leaders
        }
    )
    print(
        f"{name}: {', '.join('(' + ', '.join(point) + ')' for point in others) or 'every limit is a leader'}"
    )
