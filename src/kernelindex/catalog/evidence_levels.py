"""What level the runs of the bundles just imported reached, and why not a higher one."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import select

from kernelindex.catalog.tables import derived, truth
from kernelindex.policy.facts import Level

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

SHORT_OF = (str(Level.REPORTED), str(Level.REPRODUCIBLE))


def level_words(conn: Connection) -> list[str]:
    """One sentence for each level below verified and what it lacks, most frequent first.

    Asks of what is published and, by the staged findings, was imported just now.
    """
    staged = truth.STAGED["evidence_findings"]
    wanted = set(conn.execute(select(staged.c.run_digest)).scalars())
    if not wanted:
        return []
    short = Counter(
        (report["level"], tuple(report["missing"]))
        for digest, report in _levels(conn)
        if digest in wanted and report["level"] in SHORT_OF
    )
    return [
        f"{count} run{'s are' if count > 1 else ' is'} {level}: lacking {'; '.join(missing)}"
        for (level, missing), count in short.most_common()
    ]


def _levels(conn: Connection) -> Iterator[tuple[str, dict[str, Any]]]:
    """The levels of runs with evidence, of the cohorts that the import touched."""
    entries, heads, work = derived.entries, derived.cohort_heads, derived.work_cohorts
    query = (
        select(entries.c.doc)
        .join(heads, (heads.c.key == entries.c.cohort_key) & (heads.c.version == entries.c.version))
        .join(work, work.c.key == entries.c.cohort_key)
    )
    for doc in conn.execute(query).scalars():
        yield from orjson.loads(doc)["run_levels"].items()
