"""What verifying found of a run, as a plain object that a catalog keeps and shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from kernelindex.evidence import bundle

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.evidence.report import RunReport, VerifyReport
    from kernelindex.evidence.runs import Contents
    from kernelindex.manifests import Manifest


def finding_of(report: VerifyReport, one: RunReport, run: Manifest) -> dict[str, Any]:
    """The finding of one run of a bundle without faults; ``key`` is the key's digest."""
    assert report.statement is not None
    assert report.key is not None
    runner, batch = report.statement.runner, report.statement.batch
    return {
        "key": report.key.digest,
        "publicKey": report.key.text,
        "runner": runner.name,
        "owner": runner.owner,
        "host": runner.host,
        "device": runner.device,
        "number": batch.number,
        "previous": batch.previous_digest,
        "record": report.statement.digest,
        "outcome": batch.outcome,
        "withinLimits": report.statement.calibration["withinLimits"],
        "isolation": dict(report.statement.isolation),
        "correct": one.correct,
        "lacks": list(one.lacks),
        "samples": "samples" in run.document["spec"],
    }


def read_links(contents: Contents) -> Mapping[str, str]:
    """Implementation digest -> slug of its project, where the bundle says so."""
    try:
        found = orjson.loads(contents.files.get(bundle.LINKS, b"{}"))
    except orjson.JSONDecodeError:
        return {}
    if not isinstance(found, dict):
        return {}
    return {digest: slug for digest, slug in found.items() if isinstance(slug, str) and slug}
