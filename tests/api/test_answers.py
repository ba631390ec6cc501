"""Every address answers, with the same objects as the command line."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from kernelindex.api import examples
from kernelindex.api.routes import ENDPOINTS
from kernelindex.catalog import Catalog
from kernelindex.cli.main import main
from tests.api.factories import BASE
from tests.support import shipped

EMPTY = ("/exports/{ident}", "/artifacts/{ident}")


def printed_by_ki(capsys: pytest.CaptureFixture[str], catalog: Catalog, *arguments: str) -> str:
    main([*arguments, "--json"], catalog=catalog)
    return capsys.readouterr().out


def as_printed(body: bytes) -> str:
    return json.dumps(json.loads(body), indent=2, ensure_ascii=False) + "\n"


@pytest.mark.parametrize(
    ("path", "arguments"),
    [
        (f"/resolve/kernel?q={examples.QUERY}", ("resolve", examples.QUERY)),
        ("/resolve/kernel?q=moe gpu:H200", ("resolve", "moe gpu:H200")),
        ("/runs/01a0202b", ("show", "run", "01a0202b")),
        ("/operations/moe-mlp", ("show", "operation", "moe-mlp")),
        ("/workloads/c19d004b", ("show", "workload", "c19d004b")),
        ("/compare?run=01a0202b&run=a1db5a53", ("compare", "01a0202b", "a1db5a53")),
        ("/runs?gpu=H200&limit=3", ("runs", "--gpu", "H200", "--limit", "3")),
        ("/records?limit=2", ("records", "--limit", "2")),
    ],
)
def test_the_body_is_what_ki_prints(
    client: TestClient,
    starter: Catalog,
    capsys: pytest.CaptureFixture[str],
    path: str,
    arguments: tuple[str, ...],
) -> None:
    answer = client.get(BASE + path)
    assert answer.status_code == 200
    assert as_printed(answer.content) == printed_by_ki(capsys, starter, *arguments)


def test_a_structured_question_is_answered_as_by_ki(
    client: TestClient, starter: Catalog, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "request.json"
    file.write_text(json.dumps(examples.QUESTION))
    answer = client.post(f"{BASE}/resolve/kernel", json=examples.QUESTION)
    printed = printed_by_ki(capsys, starter, "resolve", "--request", str(file))
    assert as_printed(answer.content) == printed
    assert answer.json()["match"] == "exact"


def test_a_least_level_leaves_out_rows_and_counts_them_however_it_is_asked_for() -> None:
    site = shipped.client()
    words = "fused-moe tokens=8192 experts=64 k=8 bf16 gpu:H200 pass:forward"
    asked = site.get(f"{BASE}/resolve/kernel", params={"q": f"{words} evidence:verified"}).json()
    question = {
        "operation": "fused-moe",
        "axes": {"tokens": 8192, "experts": 64, "k": 8},
        "dtypes": ["bf16"],
        "hardware": "H200",
        "pass": "forward",
        "policy": {"minimum_evidence": "verified"},
    }
    assert site.post(f"{BASE}/resolve/kernel", json=question).json() == asked
    rows = [entry for cohort in asked["cohorts"] for entry in cohort["entries"]]
    assert {entry["evidence"] for entry in rows} == {"verified"}
    assert (len(rows), asked["cohorts_not_met"]) == (33, 2)
    counted = {one["text"]: one["runs"] for one in asked["excluded_counts"]}
    assert counted["evidence is reported; verified was asked for"] == 7
    assert rows[0]["run"]["primary"]["value"] == 1017984.0


def test_the_workload_of_record(client: TestClient) -> None:
    found = client.get(f"{BASE}/runs/01a0202b").json()
    assert found["primary"]["value"] == 63962017.0
    assert found["standing"]["rank"] == {"low": 2, "high": 2}
    assert found["identity"]["run"] == examples.RUN_DIGEST
    assert found["hardware"]["family"] == "H100"


@pytest.mark.parametrize(
    "endpoint",
    [one for one in ENDPOINTS if one.path not in EMPTY and one.key != "needed"],
    ids=lambda one: one.name,
)
def test_an_address_answers_its_own_example(client: TestClient, endpoint: Any) -> None:
    path = endpoint.path.format(**{name: sample for name, (_, sample) in endpoint.inside.items()})
    given = {one.name: one.example for one in endpoint.parameters if one.required}
    body = endpoint.body["example"] if endpoint.body else None
    answer = client.request(endpoint.method, BASE + path, params=given, json=body)
    assert answer.status_code == endpoint.status, answer.text
    assert answer.headers["content-type"].startswith(endpoint.media_type)
    if endpoint.answer is not None:
        endpoint.answer.model_validate_json(answer.content)


def test_a_batch_keeps_the_order_and_one_bad_question_fails_alone(client: TestClient) -> None:
    questions = [examples.QUERY, {"operation": "moe-mlp"}, "gpuu:H100", 7]
    answer = client.post(f"{BASE}/resolve/kernel/batch", json={"questions": questions})
    answers = answer.json()["answers"]
    assert [list(one) for one in answers] == [["answer"], ["answer"], ["problem"], ["problem"]]
    assert (
        answers[0]["answer"]
        == client.get(f"{BASE}/resolve/kernel", params={"q": examples.QUERY}).json()
    )
    assert answers[2]["problem"]["code"] == "query.filter_unknown"
    assert answers[3]["problem"]["code"] == "request.not_an_object"


def test_a_manifest_is_the_bytes_of_its_digest(client: TestClient) -> None:
    answer = client.get(f"{BASE}/manifests/{examples.RUN_DIGEST}")
    assert f"sha256:{hashlib.sha256(answer.content).hexdigest()}" == examples.RUN_DIGEST
    assert answer.headers["etag"] == f'"{examples.RUN_DIGEST}"'
    assert "immutable" in answer.headers["cache-control"]


def test_a_run_manifest_is_what_ki_prints(
    client: TestClient, starter: Catalog, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    main(["show", "run", "01a0202b", "--manifest"], catalog=starter)
    printed = capsysbinary.readouterr().out
    answer = client.get(f"{BASE}/runs/01a0202b/manifest")
    assert answer.content + b"\n" == printed
    assert answer.headers["cache-control"] == "public, no-cache"


def test_pages_of_a_list_follow_each_other(client: TestClient) -> None:
    whole = client.get(f"{BASE}/runs?limit=500").json()["runs"]
    seen: list[str] = []
    cursor: str | None = None
    while True:
        more = {"cursor": cursor} if cursor else {}
        page = client.get(f"{BASE}/runs", params={"limit": "5", **more}).json()
        seen += [one["digest"] for one in page["runs"]]
        cursor = page["cursor"]
        if cursor is None:
            break
    assert seen == [one["digest"] for one in whole]


@pytest.mark.parametrize("name", ["operations", "implementations", "projects", "records"])
def test_a_second_page_begins_where_the_first_ended(client: TestClient, name: str) -> None:
    both = client.get(f"{BASE}/{name}?limit=2").json()
    first = client.get(f"{BASE}/{name}?limit=1").json()
    assert first[name] == both[name][:1]
    if first["cursor"]:
        second = client.get(f"{BASE}/{name}", params={"limit": "1", "cursor": first["cursor"]})
        assert second.json()[name] == both[name][1:]


def test_sources_say_what_was_read(client: TestClient) -> None:
    sources = {one["slug"]: one for one in client.get(f"{BASE}/sources").json()["sources"]}
    assert sources["kernelindex-h200-2026-11"]["run_count"] == 21
    assert len(sources["kernelindex-h200-2026-11"]["snapshots"]) == 1
    assert sources["mlperf-inference"]["run_count"] == 0


def test_hardware_has_its_peaks(client: TestClient) -> None:
    found = client.get(f"{BASE}/hardware/h100-sxm5-80gb").json()
    assert found["bf16_flops"] == 989.4e12
    assert {"name": "bf16", "nominal": 989.4e12}.items() <= next(
        one for one in found["peaks"] if one["name"] == "bf16"
    ).items()
    assert found["vendor"] == "nvidia"
