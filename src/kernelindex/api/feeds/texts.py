"""robots.txt and llms.txt."""

from __future__ import annotations

from kernelindex.api.examples import QUERY, RUN

ROBOTS = """\
User-agent: *
Allow: /
Disallow: /answer
Disallow: /compare
Disallow: /api/v1/resolve
Disallow: /admin

Sitemap: {base}/sitemap.xml
"""

LLMS = """\
# KernelIndex

> Find the fastest GPU kernel you can trust for an exact workload, see why it may be trusted,
> and rerun it. Benchmark results from many sources, each with a content digest, ranked only
> where they are comparable; doubts and evidence levels stand beside every number.

How to read an answer: a rank is a range, and `=` or a range means that the numbers cannot
tell the entries apart. "Only result" is no rank. `reported` evidence is a claim that nobody
reran; `verified` and `replicated` are controlled runs. A doubt of class `blocks` forbids a
claim, `shifts` says by how much the number is off. Never compare values of two groups
(cohorts): their shape, pass, protocol or device differ. The pass (forward, backward, full,
inference) is never assumed: ask for it.

## Ask

- [Ask in words]({base}/api/v1/resolve/kernel?q={query}): operation, axes as name=size,
  dtype, gpu:, pass:. The answer has `summary`, `cohorts`, `best`, `missing`.
- POST {base}/api/v1/resolve/kernel takes the same as JSON: {{"operation": "moe-mlp",
  "axes": {{"tokens": 8192}}, "dtypes": ["bf16"], "hardware": "H100", "pass": "backward"}}.
- [A run with everything known of it]({base}/api/v1/runs/{run})
- [Search names]({base}/api/v1/search?q=rms+norm)

## Reference

- [OpenAPI 3.1 document]({base}/api/v1/openapi.json): every address, parameter and problem code
- [Operations]({base}/api/v1/operations): names, aliases, axes
- [Hardware]({base}/api/v1/hardware), [sources]({base}/api/v1/sources)
- [Methodology]({base}/methodology): identity, groups, verdicts, levels, doubts
- [Changes of leaders]({base}/feeds/records.atom): Atom feed

## Optional

- [Schemas of manifests]({base}/api/v1/schemas)
- [Exports of everything]({base}/api/v1/exports)
"""


def robots(base: str) -> str:
    """What crawlers may read: not the endless space of questions."""
    return ROBOTS.format(base=base)


def llms(base: str) -> str:
    """What this is and how to ask it, for language models."""
    from urllib.parse import quote_plus

    return LLMS.format(base=base, query=quote_plus(QUERY), run=RUN)
