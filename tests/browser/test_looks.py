"""No page has a serious fault of access, runs over its width, or asks elsewhere for anything."""

from __future__ import annotations

from functools import cache
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from tests.support.site import ORIGINAL, RECORD, record, record_runs

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SERIOUS = {"serious", "critical"}
OVER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@cache
def paths() -> dict[str, str]:
    leader, loop = (digest[7:19] for digest in record_runs())
    cohort = record().cohorts[0]
    return {
        "home": "/",
        "answer": f"/answer?q={quote(RECORD)}",
        "answer-many": "/answer?q=moe-mlp",
        "answer-near": f"/answer?q={quote(RECORD.replace('8192', '5000'))}",
        "answer-refused": "/answer?q=tokens%3Dmany",
        "run": f"/runs/{loop}",
        "run-first": f"/runs/{leader}",
        "cohort": f"/cohorts/{cohort.key[7:19]}",
        "compare": f"/compare?run={leader}&run={loop}",
        "operations": "/operations",
        "operation": "/operations/moe-mlp",
        "implementations": "/implementations",
        "implementation": f"/implementations/{cohort.entries[0].implementation.slug}",
        "projects": "/projects",
        "project": "/projects/liger-kernel",
        "hardware": "/hardware",
        "product": "/hardware/h200-sxm-141gb",
        "runs": "/runs",
        "records": "/records",
        "sources": "/sources",
        "source": "/sources/liger-kernel-bench",
        "methodology": "/methodology",
        "api": "/api",
        "note": f"/runs/{loop}/attest?kind=note",
        "report": f"/runs/{loop}/report",
        "admin": "/admin",
        "missing": f"/runs/{'f' * 12}",
        "original": f"/runs/{ORIGINAL}",
    }


NAMES = [
    *("home", "answer", "answer-many", "answer-near", "answer-refused", "run", "run-first"),
    *("cohort", "compare", "operations", "operation", "implementations", "implementation"),
    *("projects", "project", "hardware", "product", "runs", "records", "sources", "source"),
    *("methodology", "api", "note", "report", "admin", "missing", "original"),
]


@pytest.mark.parametrize("name", NAMES)
def test_axe_finds_no_serious_fault(browser: Browser, address: str, name: str) -> None:
    with browser.new_context(base_url=address, bypass_csp=True) as context:
        page = context.new_page()
        page.goto(paths()[name])
        found = []
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            found += [
                (scheme, one["id"], [node["html"][:160] for node in one["nodes"][:3]])
                for one in Axe().run(page).response["violations"]
                if one["impact"] in SERIOUS
            ]
    assert found == []


@pytest.mark.parametrize("name", NAMES)
def test_nothing_runs_over_the_width_or_is_asked_elsewhere(
    browser: Browser, address: str, name: str
) -> None:
    asked: list[str] = []
    with browser.new_context(base_url=address) as context:
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto(paths()[name])
        over = {}
        for width in (1440, 820, 390):
            page.set_viewport_size({"width": width, "height": 900})
            over[width] = page.evaluate(OVER)
    assert {width: pixels for width, pixels in over.items() if pixels > 0} == {}
    assert [url for url in asked if not url.startswith((address, "data:"))] == []


def test_every_page_is_looked_at() -> None:
    assert sorted(NAMES) == sorted(paths())
