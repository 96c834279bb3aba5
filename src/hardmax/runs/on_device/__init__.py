"""Runs whose tokens came as tensors on a GPU, and stay there."""
