"""Every documented problem code is produced, and nothing else is documented."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from sqlalchemy.exc import OperationalError
from starlette.testclient import TestClient

from kernelindex.api import CODES, Rates
from kernelindex.api.codes import code_of
from kernelindex.api.problems import ProblemDetails
from kernelindex.api.routes import ENDPOINTS
from kernelindex.catalog import Catalog
from kernelindex.catalog.migrate import set_derived_version
from kernelindex.errors import CatalogError
from tests.api.factories import BASE, Stand, make_client, raising, two_of_each
from tests.api.test_community import PEOPLE
from tests.support.shared import CHECKOUT

Ask = Callable[[TestClient], Any]
ASK = f"{BASE}/resolve/kernel"
JSON = {"Content-Type": "application/json"}


def get(path: str) -> Ask:
    return lambda client: client.get(BASE + path)


def text(query: str) -> Ask:
    return lambda client: client.get(ASK, params={"q": query})


def question(document: Any) -> Ask:
    return lambda client: client.post(ASK, json=document)


def raw(body: bytes) -> Ask:
    return lambda client: client.post(ASK, content=body, headers=JSON)


def deep(levels: int) -> bytes:
    return b'{"a":' * levels + b"1" + b"}" * levels


PRODUCED: dict[str, Ask] = {
    "route.not_found": get("/nothing"),
    "route.method": lambda client: client.delete(f"{BASE}/runs"),
    "run.not_found": get("/runs/nothing"),
    "operation.not_found": get("/operations/nothing"),
    "implementation.not_found": get("/implementations/nothing"),
    "workload.not_found": get("/workloads/nothing"),
    "protocol.not_found": get("/protocols/nothing"),
    "environment.not_found": get("/environments/nothing"),
    "project.not_found": get("/projects/nothing"),
    "hardware.not_found": get("/hardware/nothing"),
    "source.not_found": get("/sources/nothing"),
    "cohort.not_found": get("/cohorts/nothing"),
    "manifest.not_found": get("/manifests/nothing"),
    "artifact.not_found": get("/artifacts/nothing"),
    "schema.not_found": get("/schemas/v1alpha1/Nothing"),
    "export.not_found": get("/exports/nothing"),
    "request.parameter_unknown": get("/runs?operaton=moe-mlp"),
    "request.parameter_repeated": get("/runs?gpu=H100&gpu=H200"),
    "request.parameter_missing": get("/resolve/kernel"),
    "request.parameter_invalid": get("/cohorts/a834895d?entries=many"),
    "request.limit": get("/runs?limit=501"),
    "request.cursor": get("/runs?cursor=WyJhIl0"),
    "request.media_type": lambda client: client.post(ASK, content=b"{}"),
    "request.body_too_large": raw(b" " * 70_000),
    "request.query_too_long": get("/runs?gpu=" + "x" * 5000),
    "request.batch": lambda client: client.post(f"{ASK}/batch", json={"questions": []}),
    "request.not_an_object": question(["moe-mlp"]),
    "request.field_unknown": question({"operation": "moe-mlp", "axis": {}}),
    "request.field_invalid": question({"operation": 7}),
    "request.empty": question({}),
    "request.axis_value": question({"operation": "moe-mlp", "axes": {"tokens": -1}}),
    "request.axis_unknown": question({"operation": "moe-mlp", "axes": {"tokns": 1}}),
    "request.axis_repeated": question({"operation": "moe-mlp", "axes": {"tokens": 1, "T": 2}}),
    "request.dtype_unknown": question({"operation": "moe-mlp", "dtypes": ["bf17"]}),
    "request.hardware_unknown": question({"operation": "moe-mlp", "hardware": "H1000"}),
    "request.licence_unknown": question(
        {"operation": "moe-mlp", "policy": {"licenses": ["bogus"]}}
    ),
    "request.several_gpus": question({"operation": "moe-mlp", "hardware": "8xH100"}),
    "request.metric_unknown": question({"operation": "moe-mlp", "metric": "latencyy"}),
    "request.operation_unknown": question({"operation": "zzzzqqqq"}),
    "query.too_long": text("moe " + "tokens=1 " * 120),
    "query.axis_value": text("moe-mlp tokens=many"),
    "query.repeated": text("moe-mlp gpu:H100 gpu:H200"),
    "query.filter_unknown": text("moe-mlp gpuu:H100"),
    "query.filter_empty": text("moe-mlp gpu:"),
    "query.filter_value": text("moe-mlp pass:sideways"),
    "compare.count": get("/compare?run=01a0202b"),
    "canonical.syntax": raw(b"{'operation': 1}"),
    "canonical.encoding": raw(b'{"operation": "\xff"}'),
    "canonical.duplicate_key": raw(b'{"operation": "a", "operation": "b"}'),
    "canonical.not_finite": raw(b'{"axes": {"tokens": 1e999}}'),
    "canonical.integer_range": raw(b'{"axes": {"tokens": 9007199254740993}}'),
    "canonical.surrogate": raw(rb'{"operation": "\ud800"}'),
    "canonical.too_deep": raw(deep(70)),
}
AMBIGUOUS = {
    "run.ambiguous": "/runs/twin",
    "operation.ambiguous": "/operations/twin",
    "implementation.ambiguous": "/implementations/twin",
    "workload.ambiguous": "/workloads/twin",
    "protocol.ambiguous": "/protocols/twin",
    "environment.ambiguous": "/environments/twin",
    "project.ambiguous": "/projects/twin",
}
FAILING = {
    "run.not_derived": {"run": lambda digest: None},
    "catalog.read_time_limit": {
        "find": raising(CatalogError("stopped after 5 s", code="catalog.read_time_limit"))
    },
    "catalog.stale": {"find": raising(CatalogError("run: ki …", code="catalog.stale"))},
    "catalog.unavailable": {"find": raising(OperationalError("SELECT", {}, OSError("disk")))},
    "unexpected": {"find": raising(ZeroDivisionError("secret"))},
}
LIMITED = ("rate.limited",)


def check(answer: httpx2.Response, code: str) -> ProblemDetails:
    found = ProblemDetails.model_validate_json(answer.content)
    assert found.code == code, found.detail
    assert answer.status_code == found.status == CODES[code].status
    assert answer.headers["content-type"] == "application/problem+json"
    assert (found.title, found.type) == (CODES[code].title, f"/api#{code}")
    assert found.detail
    return found


@pytest.mark.parametrize("code", PRODUCED)
def test_a_code_is_produced(client: TestClient, code: str) -> None:
    check(PRODUCED[code](client), code)


@pytest.mark.parametrize("code", AMBIGUOUS)
def test_an_ambiguous_name_lists_what_it_means(starter: Catalog, code: str) -> None:
    client = make_client(Stand(starter, find=two_of_each))
    found = check(client.get(BASE + AMBIGUOUS[code]), code)
    assert [one.digest[7] for one in found.matches or ()] == ["1", "2"]


@pytest.mark.parametrize("code", FAILING)
def test_a_failure_is_a_problem_that_tells_no_secret(starter: Catalog, code: str) -> None:
    client = make_client(Stand(starter, **FAILING[code]))
    answer = client.get(f"{BASE}/runs/01a0202b")
    found = check(answer, code)
    assert not re.search(r"secret|disk|SELECT", found.detail)
    assert ("retry-after" in answer.headers) == (found.status == 503)


def test_what_only_an_operator_can_mend_is_said_in_the_log(
    starter: Catalog, caplog: pytest.LogCaptureFixture
) -> None:
    client = make_client(Stand(starter, find=raising(CatalogError("odd", code="catalog.url"))))
    assert "odd" not in check(client.get(f"{BASE}/runs/01a0202b"), "catalog.unavailable").detail
    assert "catalog.url: odd" in caplog.text


def test_a_catalog_of_another_version_says_what_is_to_be_done(
    sqlite_url: str,
) -> None:
    with Catalog.open(sqlite_url) as catalog:
        client = make_client(catalog)
        with catalog.writing() as conn:
            set_derived_version(conn, "another")
        found = check(client.get(f"{BASE}/runs"), "catalog.stale")
        assert found.detail.endswith("or runs with this one: ki catalog rebuild")


def test_a_rate_is_a_problem(starter: Catalog) -> None:
    client = make_client(starter, rates=Rates(reads="1/minute"))
    client.get(f"{BASE}/schemas")
    check(client.get(f"{BASE}/schemas"), "rate.limited")


def test_every_code_is_produced_here() -> None:
    assert {*PRODUCED, *AMBIGUOUS, *FAILING, *LIMITED, *PEOPLE} == set(CODES)


def test_every_code_of_an_address_is_in_the_table_and_every_other_is_used() -> None:
    used = {code for one in ENDPOINTS for code in one.all_codes}
    assert used <= set(CODES)
    assert set(CODES) - used == set()


def test_every_code_of_a_question_is_in_the_table() -> None:
    sources = (CHECKOUT / "src" / "kernelindex" / "resolve").glob("*.py")
    pattern = r'"((?:request|query|compare)\.[a-z_]+)"'
    raised = {code for path in sources for code in re.findall(pattern, path.read_text())}
    assert raised - set(CODES) == set()


def test_an_unknown_parameter_comes_with_a_correction(client: TestClient) -> None:
    found = check(PRODUCED["request.parameter_unknown"](client), "request.parameter_unknown")
    assert [one.correction for one in found.problems or ()] == ["operation"]


def test_an_unknown_filter_comes_with_a_correction(client: TestClient) -> None:
    found = check(PRODUCED["query.filter_unknown"](client), "query.filter_unknown")
    assert [one.correction for one in found.problems or ()] == ["gpu:H100"]


def test_every_fault_of_a_question_is_listed(client: TestClient) -> None:
    answer = client.post(ASK, json={"operation": 7, "dtypes": "bf16", "pass": "no", "x": 1})
    assert len(answer.json()["problems"]) == 4


def test_a_cursor_of_other_filters_is_refused(client: TestClient) -> None:
    cursor = client.get(f"{BASE}/runs?limit=1&gpu=H200").json()["cursor"]
    assert client.get(f"{BASE}/runs", params={"gpu": "H200", "cursor": cursor}).status_code == 200
    check(client.get(f"{BASE}/runs", params={"cursor": cursor}), "request.cursor")


def test_a_wrong_method_says_which_are_right(client: TestClient) -> None:
    assert client.delete(f"{BASE}/runs").headers["allow"] == "GET, HEAD"
    both = client.delete(f"{BASE}/resolve/kernel").headers["allow"]
    assert both == "GET, HEAD, POST"


def test_an_unlisted_code_falls_back_to_that_of_its_class() -> None:
    assert code_of("no.such", otherwise="manifest.not_found").status == 404
    assert code_of("no.such").code == "unexpected"
