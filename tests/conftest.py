"""What all tests share.

Hypothesis sets no deadlines, for how long an example takes is not what is tested. Where several processes run the
tests, none starts another to compile beside it: the processors are taken.
"""

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("fwsvm", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("fwsvm")


def pytest_configure(config: pytest.Config) -> None:
    """Leave the second processor to the other process of pytest-xdist."""
    if hasattr(config, "workerinput"):
        from fwsvm.solvers import second_compiler

        second_compiler.usable_threads = lambda: 1
