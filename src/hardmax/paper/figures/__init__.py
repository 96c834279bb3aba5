"""The paper's Figures 1 to 5: each computed by the package, and drawn from what was computed."""
