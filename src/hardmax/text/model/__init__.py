"""What a model computes: masses, leaders, logits."""
