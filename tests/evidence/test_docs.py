"""The reference names every fault and every file of a bundle."""

from __future__ import annotations

import re

from kernelindex.evidence import bundle, statement
from kernelindex.evidence.report import CODES
from tests.support.shared import CHECKOUT

REFERENCE = (CHECKOUT / "docs/reference/evidence.md").read_text(encoding="utf-8")
GUIDE = (CHECKOUT / "docs/guides/evidence.md").read_text(encoding="utf-8")


def test_every_fault_has_its_line() -> None:
    section = REFERENCE.partition("## Verifying")[2]
    named = set(re.findall(r"`([a-z_]+)`", section))
    assert set(CODES) <= named


def test_every_file_and_type_is_named() -> None:
    files = (
        bundle.STATEMENT,
        bundle.PLAN,
        bundle.JOURNAL,
        bundle.SEED,
        bundle.FACTS,
        bundle.CALIBRATION,
        bundle.OUTCOME,
        bundle.TELEMETRY,
        bundle.LINKS,
        statement.PREDICATE_TYPE,
        statement.MANIFEST_DIGEST,
    )
    assert [one for one in files if f"`{one}`" not in REFERENCE] == []


def test_the_guide_says_what_the_levels_say() -> None:
    from kernelindex.policy.levels import EvidenceFacts, missing_for_verified
    from tests.policy.factories import make_run

    for words in missing_for_verified(make_run(), EvidenceFacts()):
        assert words in GUIDE
