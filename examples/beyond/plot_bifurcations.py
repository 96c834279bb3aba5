"""
At which step sizes the outcome changes
=======================================

In the paper's second cloud of Figure 2 a token becomes a leader at layer 1 only, for alpha = 1/2.
Does it for every alpha? While attended sets stay the same, every lead of one token over another is
a polynomial in alpha, so the step sizes at which the outcome changes are roots of polynomials, and
can be given exactly."""

import matplotlib.pyplot as plt

import hardmax as hm

# %%
# Two values, both roots of 3a² - 5a + 1, and three leaders in between.
found = hm.bifurcations(hm.clouds.emerging_leader(), ("1/10", 2))
for interval in found.intervals:
    assert interval.outcome is not None
    print(f"alpha from {interval.low} to {interval.high}: leaders {interval.outcome.leaders}")
for value in found.values:
    print(f"alpha = {value} = {float(value):.6f}, a root of {value.polynomial}")

# %%
# A row for each token: what it attends to in the end. Stars lead.
found.plot()
plt.show()

# %%
# On a lattice values may be whole numbers. Here token 7 ends with 8 below alpha = 1, then with 0, and leads above 2.
tokens = [[-6, 6], [-3, -4], [-2, -1], [-2, 1], [-2, 6], [-1, 3], [0, 1], [1, 5], [3, 5]]
found = hm.bifurcations(tokens, ("1/4", 4))
print(found)
found.plot()
plt.show()
