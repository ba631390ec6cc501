"""A run whose accusation was withdrawn: it is told as that everywhere, with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from kernelindex.catalog import Catalog, correct, import_records
from kernelindex.catalog.intake import Correction
from kernelindex.resolve.compare import compare_runs
from kernelindex.resolve.lists import list_runs
from kernelindex.resolve.show import show_run
from kernelindex.resolve.views import view_excluded
from kernelindex.site import create_app
from kernelindex.sources import find_source
from tests.cli.factories import Terminal
from tests.evidence.factories import Batch

REASON = "the audit compared gradients that add up over calls"
HACK = "suspected_reward_hack"


def withdraw(catalog: Catalog) -> tuple[str, str]:
    """Import two accused runs and retract one: its digest, and the other's."""
    batch = Batch(run={"status": HACK}).seal()
    import_records(catalog, *find_source("evidence").read(batch.data))
    named = {row.line["title"]: row.digest for row in catalog.runs().rows}
    said = Correction(action="retract", run_digest=named["fast"], actor="us", reason=REASON)
    assert correct(catalog, said)
    return named["fast"], named["slow"]


def test_a_dossier_says_withdrawn_and_why(catalog_url: str) -> None:
    with Catalog.create(catalog_url) as catalog:
        honest, other = withdraw(catalog)
        run = show_run(catalog, honest)
        assert (run.status, run.retracted) == ("withdrawn", REASON)
        assert run.summary == f"withdrawn: no number to rank. Retracted: {REASON}."
        assert run.standing.text == f"retracted: {REASON}"
        assert [one.code for one in run.reasons] == ["retracted"]
        assert run.manifests["run"]["spec"]["status"] == HACK
        assert show_run(catalog, other).status == HACK


def test_lists_exclusions_and_comparisons_accuse_only_the_other(catalog_url: str) -> None:
    with Catalog.create(catalog_url) as catalog:
        honest, other = withdraw(catalog)
        every = list_runs(catalog, status="any").runs
        assert {one.digest: one.status for one in every} == {honest: "withdrawn", other: HACK}
        usual = list_runs(catalog, operation=every[0].operation)
        assert [one.digest for one in usual.runs] == [other]
        assert [(one.status, one.runs) for one in usual.left_out] == [("withdrawn", 1)]
        (key,) = {row.cohort_key for row in catalog.runs().rows}
        excluded = [view_excluded(row) for row in catalog.excluded([str(key)])]
        reasons = {one.run: [reason.code for reason in one.reasons] for one in excluded}
        assert reasons == {honest: ["retracted"], other: ["not_passed"]}
        compared = compare_runs(catalog, [honest, other])
        assert compared.summary == f"No verdict: fast does not rank: retracted: {REASON}."
        (status,) = (one for one in compared.fields if one.name == "status")
        assert status.values == ("withdrawn", HACK)
        assert (catalog.cohorts(), catalog.records().rows) == ([], ())


def test_a_retracted_run_that_passed_keeps_its_status(sqlite_url: str) -> None:
    with Catalog.create(sqlite_url) as catalog:
        import_records(catalog, *find_source("evidence").read(Batch().seal().data))
        digest = catalog.runs().rows[0].digest
        correct(catalog, Correction(action="retract", run_digest=digest, actor="us", reason=REASON))
        assert show_run(catalog, digest).status == "passed"


def test_the_page_and_its_json_lead_with_the_reason(sqlite_url: str, tmp_path: Path) -> None:
    with Catalog.create(sqlite_url) as catalog:
        honest, _ = withdraw(catalog)
        client = TestClient(create_app(catalog=catalog, cache=tmp_path / "charts"))
        page = client.get(f"/runs/{honest[7:19]}").text
        shown, manifest = page.split("Canonical manifest", 1)
        assert '<p class="big">withdrawn</p>' in shown
        assert f"<strong>Retracted:</strong> {REASON}</p>" in shown
        assert "reward" not in shown
        assert HACK in manifest
        data = client.get(f"/api/v1/runs/{honest[7:19]}").json()
        assert (data["status"], data["retracted"]) == ("withdrawn", REASON)


def test_the_terminal_leads_with_the_reason(
    sqlite_url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Catalog.create(sqlite_url) as catalog:
        honest, _ = withdraw(catalog)
        terminal = Terminal(capsys, monkeypatch)
        words = " ".join(terminal.ki("show", "run", honest, catalog=catalog).out.split())
        assert f"withdrawn: no number to rank. Retracted: {REASON}." in words
        assert "reward" not in words
        assert "left out: 1 withdrawn; listed by --status withdrawn or" in terminal.ki(
            "runs", catalog=catalog
        ).out.replace("\n", " ")
