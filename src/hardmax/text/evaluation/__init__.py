"""How good a model is: metrics, which words lead, calibration."""
