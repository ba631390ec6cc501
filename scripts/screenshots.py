"""Pictures of every page at four widths, light and dark, to look at and mend.

    python scripts/screenshots.py --db sqlite:///path/to/ki.db --out pictures [--only run,answer]

Serves the site on a free port of this machine and drives a Chromium that is installed
(``--chromium``, else the CHROMIUM variable, else /usr/bin/chromium).
"""

from __future__ import annotations

import argparse
import os
import socket
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import uvicorn
from playwright.sync_api import Browser, sync_playwright

from kernelindex.catalog import Catalog
from kernelindex.resolve import ask_text
from kernelindex.site import create_app

if TYPE_CHECKING:
    from collections.abc import Iterator

WIDTHS = (1440, 820, 700, 390)
SCHEMES = ("light", "dark")
RECORD = (
    "fused-moe tokens=8192 hidden=2048 intermediate=768 experts=64 k=8 bf16 gpu:H100 pass:backward"
)
QUESTIONS = {
    "answer": RECORD,
    "answer-many": "rmsnorm H100 bf16",
    "answer-near": RECORD.replace("tokens=8192", "tokens=5000"),
    "answer-refused": "tokens=many colour:red",
}
FIXED = {
    "home": "/",
    "operations": "/operations",
    "operation": "/operations/moe-mlp",
    "hardware-list": "/hardware",
    "hardware": "/hardware/h100-sxm5-80gb",
    "implementations": "/implementations",
    "projects": "/projects",
    "project": "/projects/liger-kernel",
    "runs": "/runs",
    "records": "/records",
    "sources": "/sources",
    "source": "/sources/liger-kernel-bench",
    "methodology": "/methodology",
    "api": "/api",
    "api-address": "/api/addresses/list_runs",
    "compare-form": "/compare",
    "filter-refused": "/operations?famly=moe",
    "admin": "/admin",
    "missing": "/runs/ffffffffffff",
}


def pages(catalog: Catalog) -> dict[str, str]:
    """Every page to look at by its name; those of runs where the catalog has the record."""
    found = dict(FIXED)
    for name, question in QUESTIONS.items():
        found[name] = f"/answer?q={quote(question)}"
    answer = ask_text(catalog, RECORD)
    for cohort in answer.cohorts[:1]:
        runs = [entry.run.digest.removeprefix("sha256:")[:12] for entry in cohort.entries]
        found["cohort"] = f"/cohorts/{cohort.key.removeprefix('sha256:')[:12]}"
        found["history"] = f"/records/{cohort.key.removeprefix('sha256:')[:12]}"
        found["sweep"] = "/operations/moe-mlp?gpu=h100-sxm5-80gb&pass=backward&axis=experts"
        found["run"], found["run-first"] = f"/runs/{runs[-1]}", f"/runs/{runs[0]}"
        found["implementation"] = f"/implementations/{cohort.entries[0].implementation.slug}"
        found["compare"] = "/compare?" + "&".join(f"run={run}" for run in runs[:2])
        found["note"] = f"/runs/{runs[-1]}/attest?kind=note"
        found["report"] = f"/runs/{runs[-1]}/report"
    return found


@contextmanager
def served(db: str) -> Iterator[str]:
    """The site on a free port; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = uvicorn.Config(create_app(db), port=port, log_level="warning")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(timeout=10)


def shoot(browser: Browser, address: str, found: dict[str, str], out: Path) -> None:
    """One picture for each page, width and scheme; says what went wrong on the way."""
    for scheme in SCHEMES:
        for width in WIDTHS:
            context = browser.new_context(
                viewport={"width": width, "height": 900}, color_scheme=scheme
            )
            page = context.new_page()
            for name, path in found.items():
                answer = page.goto(address + path, wait_until="networkidle")
                page.screenshot(path=out / f"{name}-{width}-{scheme}.png", full_page=True)
                over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                status = answer.status if answer else 0
                if over > 0 or status >= 500:
                    print(f"{name} at {width}: status {status}, {over} px too wide")
            context.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--db", required=True, help="catalog URL")
    parser.add_argument("--out", type=Path, default=Path("pictures"))
    parser.add_argument("--only", default="", help="names of pages, separated by commas")
    parser.add_argument("--chromium", default=os.environ.get("CHROMIUM", "/usr/bin/chromium"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    with Catalog.open(given.db) as catalog:
        found = pages(catalog)
    if given.only:
        found = {name: found[name] for name in given.only.split(",")}
    with served(given.db) as address, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=given.chromium, args=["--no-sandbox"])
        shoot(browser, address, found, given.out)
        browser.close()
    print(f"{len(found) * len(WIDTHS) * len(SCHEMES)} pictures in {given.out}")


if __name__ == "__main__":
    main()
