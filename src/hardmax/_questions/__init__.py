"""Questions about all clouds, all starts, all metrics, answered with a proof."""
