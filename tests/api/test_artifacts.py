"""Signed evidence over the API and on the page of a run: who signed, and every byte of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from kernelindex.catalog import Catalog, import_records
from kernelindex.catalog.approvals import approve
from kernelindex.evidence.verify import verify
from kernelindex.site import create_app
from kernelindex.sources import find_source
from tests.api.factories import BASE, make_client
from tests.evidence.factories import ALICE, Batch
from tests.support.html import Document

SEALED = Batch(candidates={"fast": 1e5, "slow": 1.2e5}).seal()


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    made = Catalog.create(f"sqlite:///{tmp_path_factory.mktemp('evidence') / 'ki.db'}")
    import_records(made, *find_source("evidence").read(SEALED.data))
    approve(
        made,
        public_key=ALICE.public.text,
        name="alice-runner",
        owner="alice",
        host="alice-box",
        actor="op",
        reason="ours",
    )
    return made


@pytest.fixture(scope="module")
def client(catalog: Catalog) -> TestClient:
    return make_client(catalog)


def dossier(client: TestClient) -> dict:
    run = client.get(f"{BASE}/runs").json()["runs"][0]["digest"]
    return client.get(f"{BASE}/runs/{run}").json()


def test_a_dossier_says_who_signed_and_in_which_batch(client: TestClient) -> None:
    found = dossier(client)
    assert found["ladder"]["reached"] == "verified"
    (signed,) = found["evidence"]
    assert (signed["runner"], signed["owner"], signed["host"]) == (
        "alice-runner",
        "alice",
        "alice-box",
    )
    assert signed["key"] == ALICE.public.text
    assert signed["approval"] == "approved by this index"
    assert (signed["batch"], signed["chain"]) == (1, "the first batch of its runner")
    assert signed["record"] == SEALED.record_digest
    assert (signed["within_limits"], signed["correct"], signed["lacks"]) == (True, True, [])


def test_a_bundle_from_the_api_verifies_by_the_key_that_the_dossier_names(
    client: TestClient,
) -> None:
    (signed,) = dossier(client)["evidence"]
    answer = client.get(f"{BASE}/artifacts/{signed['bundle']}")
    assert answer.status_code == 200
    assert answer.content == SEALED.data
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].endswith('.evidence.zip"')
    assert "immutable" in answer.headers["cache-control"]
    assert verify(answer.content, [ALICE.public]).ok
    again = client.get(
        f"{BASE}/artifacts/{signed['bundle']}", headers={"If-None-Match": answer.headers["etag"]}
    )
    assert (again.status_code, again.content) == (304, b"")


def test_samples_and_calibration_can_be_had(client: TestClient) -> None:
    artifacts = {one["name"]: one for one in dossier(client)["artifacts"]}
    assert set(artifacts) == {"samples", "calibration"}
    for one in artifacts.values():
        assert one["held"] is True
        assert client.get(f"{BASE}/artifacts/{one['digest']}").status_code == 200


def test_the_page_of_a_run_shows_signer_sequence_and_files(
    catalog: Catalog, tmp_path: Path
) -> None:
    site = TestClient(create_app(catalog=catalog, cache=tmp_path), follow_redirects=False)
    run = catalog.runs().rows[0].digest
    text = Document(site.get(f"/runs/{run[7:19]}").text).text
    assert "Signed batch 1" in text
    assert "alice-runner of alice on alice-box" in text
    assert "approved by this index" in text
    assert "ki evidence verify" in text
