"""docs/reference/api.md, written from the declarations of the addresses.

``python -m kernelindex.api.reference --write docs/reference`` writes it again;
``--check`` in its place says whether it is current.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from kernelindex.api.app import BASE
from kernelindex.api.bodies import BATCH_BYTES, QUESTION_BYTES
from kernelindex.api.codes import CODES
from kernelindex.api.endpoint import ALWAYS, TROUBLE, Endpoint
from kernelindex.api.guards import MOST_PATH, MOST_QUERY
from kernelindex.api.rates import DEFAULT_RATES
from kernelindex.api.routes import ENDPOINTS

if TYPE_CHECKING:
    from kernelindex.api.parameters import Parameter

PAGE = "api.md"
HEAD = f"""# JSON API

Written from the code by `make schemas`. The API answers below `{BASE}`; `{BASE}/openapi.json`
describes it in OpenAPI 3.1. The answers are the objects of [answer.md](answer.md), which
`ki … --json` prints too.

```sh
curl -G "$SITE{BASE}/resolve/kernel" \\
  --data-urlencode "q=fused-moe tokens=8192 bf16 gpu:H100 pass:backward"
curl "$SITE{BASE}/runs/01a0202b"
curl "$SITE{BASE}/manifests/sha256:f8a2…" | sha256sum    # prints the digest asked for
```

## Rules of every address

- **Names.** `{{ident}}` is an alias, a slug, or 8 or more hex digits of a digest. Several
  matches are a problem that lists them.
- **Parameters** are read strictly: an unknown one is refused with the name that was probably
  meant, a repeated one is refused.
- **Lists** have a `limit` and a `cursor`. A cursor is good for the same list and the same
  filters only.
- **Caching.** Every GET answer has a strong `ETag`, the SHA-256 of its bytes, and answers 304
  to `If-None-Match`. Ranks change with imports, so most say `no-cache`: keep, but ask again.
  `/manifests/{{digest}}` and `/exports/{{digest}}` can never change and say `immutable`. A run's
  `/manifest` has editorial metadata, which may be corrected, and is therefore not immutable.
- **HEAD** is answered wherever GET is.
- **CORS.** Any origin may read, and may POST below `/resolve`, which only reads.
- **Limits.** The path has at most {MOST_PATH:,} characters, the query {MOST_QUERY:,}; a
  question {QUESTION_BYTES // 1024} KiB, a batch {BATCH_BYTES // 1024} KiB; JSON at most 64
  levels. Each statement in the catalog ends after 5 s.
- **Rates.** One address (for IPv6 its /64) may ask {DEFAULT_RATES.reads}, batches and exports
  {DEFAULT_RATES.heavy}, counted in each worker of the server. `RateLimit-Policy` and
  `RateLimit` say the rate and what is left of it, `Retry-After` when to come back.
- **Errors** are `application/problem+json` (RFC 9457) with a stable `code`; see below. A
  question that cannot be read is refused; one that is read and finds nothing is answered
  with `match: none` and what is missing.
"""
FEEDS = """## Feeds

At the root of the site, not below the API:

| address | is |
|---|---|
| `/feeds/records.atom` | changes of leaders as Atom, with the parameters of `/records` |
| `/sitemap.xml` | index of sitemaps: objects, implementations, runs by first digits |
| `/robots.txt` | what crawlers may read |
| `/llms.txt` | what this is and how to ask it, for language models |
"""


def api_markdown() -> str:
    """The whole page."""
    parts = [HEAD, _overview()]
    parts += [_section(one) for one in ENDPOINTS]
    parts += [FEEDS, _codes()]
    return "\n".join(parts)


def _overview() -> str:
    lines = ["## Addresses", "", "| address | answers |", "|---|---|"]
    lines += [f"| `{one.method} {one.path}` | {one.summary} |" for one in ENDPOINTS]
    return "\n".join(lines) + "\n"


def _section(one: Endpoint) -> str:
    doc = inspect.cleandoc(one.handler.__doc__ or "")
    lines = [f"### {one.method} {one.path}", "", doc, ""]
    if one.inside or one.parameters:
        lines += ["| parameter | type | meaning |", "|---|---|---|"]
        lines += [f"| `{name}` (path) | text | {text} |" for name, (text, _) in one.inside.items()]
        lines += [f"| `{p.name}` | {_type(p)} | {p.text} |" for p in one.parameters]
        lines.append("")
    lines.append(f"Answers with {_answer(one)}.")
    own = [code for code in one.codes if code not in {*ALWAYS, *TROUBLE}]
    if own:
        lines.append("Problems: " + ", ".join(f"`{code}`" for code in own) + ".")
    return "\n".join(lines) + "\n"


def _answer(one: Endpoint) -> str:
    if one.answer is not None:
        return f"`{one.answer.__name__}`"
    return f"`{one.media_type}`"


def _type(one: Parameter) -> str:
    if one.number is not None:
        return f"{one.number[0]} to {one.number[1]}, default {one.default}"
    word = "text, several times" if one.many else "text"
    return f"{word}, required" if one.required else word


def _codes() -> str:
    lines = [
        "## Problem codes",
        "",
        "A code is stable; the words beside it may change. `problems` lists every fault of a",
        "request with `seen`, `wanted` and `correction`; `matches` what an ambiguous name means.",
        "",
        "| code | status | meaning |",
        "|---|---|---|",
    ]
    lines += [f"| `{one.code}` | {one.status} | {one.title} |" for one in CODES.values()]
    everywhere = ", ".join(f"`{code}`" for code in (*ALWAYS, *TROUBLE))
    lines += ["", f"Every address may answer with {everywhere}.", ""]
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Write or check the page; 1 where a check finds it stale."""
    action, folder = arguments
    path = Path(folder) / PAGE
    current = path.is_file() and path.read_text() == api_markdown()
    if action == "--write":
        path.write_text(api_markdown())
    elif not current:
        sys.stdout.write(f"differs: {path}\n")
    return int(action == "--check" and not current)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
