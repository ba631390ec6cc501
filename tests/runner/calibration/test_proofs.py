"""Every limit has its proof and every proof its limit, on a device and on a host."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kernelindex.runner import calibration
from kernelindex.selfchecks import limits_on

FOLDER = Path(calibration.__file__).parent


@pytest.mark.parametrize(
    ("module", "device"), [("device_checks.py", "cuda:0"), ("host_checks.py", "cpu")]
)
def test_the_proofs_made_are_those_with_a_limit(module: str, device: str) -> None:
    text = (FOLDER / module).read_text()
    made = re.findall(r'found\.hold\("(\w+)"', text)
    assert sorted([*made, "flush"]) == sorted(limits_on(device))
    assert text.count("found.hold_flush(") == 1
