"""Questions around the limit: step sizes at which it changes, softmax beside hardmax, random
clouds."""
