"""The paper's own figures: what computes as well as draws."""
