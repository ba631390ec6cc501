"""Property tests fail on what is wrong, never on how busy the machine is or on one unlucky draw."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings


def test_property_tests_have_no_deadline() -> None:
    assert settings.default is not None
    assert settings.default.deadline is None
    assert settings(max_examples=3).deadline is None
    assert HealthCheck.too_slow in settings(max_examples=3).suppress_health_check


def test_examples_are_the_same_every_time_unless_new_ones_are_asked_for(
    pytestconfig: pytest.Config,
) -> None:
    if pytestconfig.getoption("hypothesis_profile", None):
        pytest.skip("another profile was asked for")
    assert settings(max_examples=3).derandomize
    assert not settings.get_profile("explore").derandomize
