"""What verifying found of a run, as a plain object that a catalog keeps and shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from kernelindex.evidence import bundle
from kernelindex.evidence.calibration import chart_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kernelindex.evidence.report import RunReport, VerifyReport
    from kernelindex.evidence.runs import Contents
    from kernelindex.manifests import Manifest


def findings_of(contents: Contents, report: VerifyReport) -> dict[str, dict[str, Any]]:
    """Run digest -> its finding, for a bundle without faults."""
    chart = chart_of(contents)
    return {
        one.digest: _finding(report, one, contents.manifests[one.digest], chart)
        for one in report.runs
    }


def _finding(
    report: VerifyReport, one: RunReport, run: Manifest, chart: Mapping[str, float]
) -> dict[str, Any]:
    """``key`` is the key's digest; ``chart`` has the batch's values for the control chart."""
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
        "withinLimits": not report.calibration_problems,
        "calibration": list(report.calibration_problems),
        "chart": dict(chart),
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
