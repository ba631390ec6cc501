"""Property tests fail on what is wrong, never on how busy the machine is."""

from __future__ import annotations

from hypothesis import settings


def test_property_tests_have_no_deadline() -> None:
    assert settings.default is not None
    assert settings.default.deadline is None
    assert settings(max_examples=3).deadline is None
