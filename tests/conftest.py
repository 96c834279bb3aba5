from hypothesis import HealthCheck, settings

# The same examples on every machine: a red run can be repeated, and nothing fails that did not fail before the change.
settings.register_profile(
    "hardmax", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("hardmax")
