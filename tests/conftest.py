"""What all tests share: Hypothesis sets no deadlines, for how long an example takes is not what is tested."""

from hypothesis import HealthCheck, settings

settings.register_profile("fwsvm", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("fwsvm")
