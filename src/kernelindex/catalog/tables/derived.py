"""Tables that can be dropped and rebuilt from the truth.

Large rows are written ahead of publishing under a version that nothing points at yet:
``cohort_heads`` says which version of a cohort (with its entries and events) is current,
and a row of ``runs`` is visible only when ``manifests`` holds its digest. Publishing
therefore moves few bytes, and readers and small writers do not wait for an import.
"""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    UniqueConstraint,
)

from kernelindex.catalog.tables.truth import NAMING
from kernelindex.catalog.tables.types import Digest, Name, Words

metadata = MetaData(naming_convention=NAMING)

run_facts = Table(
    "run_facts",
    metadata,
    Column("digest", Digest, primary_key=True),
    Column("facts", LargeBinary, nullable=False),
    Column("project", Name, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("digest", Digest, primary_key=True),
    Column("kind", Name, nullable=False),
    Column("status", Name, nullable=False),
    Column("source", Name, nullable=False),
    Column("operation", Name, nullable=False),
    Column("shape_key", Digest, nullable=False),
    Column("cohort_key", Digest),
    Column("entry_key", Words),
    Column("comparison_key", Digest),
    Column("implementation_digest", Digest, nullable=False),
    Column("workload_digest", Digest, nullable=False),
    Column("line_id", Words, nullable=False),
    Column("project", Name, nullable=False),
    Column("hardware", Name, nullable=False),
    Column("device_family", Name, nullable=False),
    Column("timed_pass", Name, nullable=False),
    Column("metric", Name),
    Column("value", Float),
    Column("observed_at", Name, nullable=False),
    Column("superseded_by", Digest),
    Column("retracted", Words),
    Column("reasons", Words),
    Index("ix_runs_cohort_key", "cohort_key", "digest"),
    Index("ix_runs_observed", "observed_at", "digest"),
    Index("ix_runs_operation", "operation", "observed_at", "digest"),
    Index("ix_runs_implementation", "implementation_digest", "observed_at", "digest"),
    Index("ix_runs_hardware", "hardware", "observed_at", "digest"),
    Index("ix_runs_source", "source", "observed_at", "digest"),
    Index("ix_runs_project", "project", "observed_at", "digest"),
    Index("ix_runs_shape_key", "shape_key", "metric"),
    Index("ix_runs_workload_digest", "workload_digest"),
)

cohort_heads = Table(
    "cohort_heads",
    metadata,
    Column("key", Digest, primary_key=True),
    Column("version", Integer, nullable=False),
)

cohorts = Table(
    "cohorts",
    metadata,
    Column("key", Digest, primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("operation", Name, nullable=False),
    Column("shape_key", Digest, nullable=False),
    Column("hardware", Name, nullable=False),
    Column("product_id", Name),
    Column("device_family", Name, nullable=False),
    Column("timed_pass", Name, nullable=False),
    Column("profile", Name, nullable=False),
    Column("metric", Name, nullable=False),
    Column("entry_count", Integer, nullable=False),
    Column("run_count", Integer, nullable=False),
    Column("doc", Words, nullable=False),
    Index("ix_cohorts_shape_key", "shape_key"),
    Index("ix_cohorts_near", "operation", "hardware", "timed_pass", "metric", "shape_key"),
    Index("ix_cohorts_version", "version"),
)
for _column in ("operation", "device_family", "hardware"):
    Index(f"ix_cohorts_{_column}", cohorts.c[_column], cohorts.c.entry_count.desc(), cohorts.c.key)

entries = Table(
    "entries",
    metadata,
    Column("cohort_key", Digest, primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("entry_key", Words, nullable=False),
    Column("run_digest", Digest, nullable=False),
    Column("implementation_digest", Digest, nullable=False),
    Column("doc", Words, nullable=False),
)

record_events = Table(
    "record_events",
    metadata,
    Column("cohort_key", Digest, primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("ordinal", Integer, primary_key=True, autoincrement=False),
    Column("date", Name, nullable=False),
    Column("run_digest", Digest, nullable=False),
    Column("operation", Name, nullable=False),
    Column("hardware", Name, nullable=False),
    Column("doc", Words, nullable=False),
    Index("ix_record_events_date", "date", "cohort_key", "ordinal"),
    Index("ix_record_events_operation", "operation", "date", "cohort_key", "ordinal"),
    Index("ix_record_events_run_digest", "run_digest"),
)

names = Table(
    "names",
    metadata,
    Column("digest", Digest, primary_key=True),
    Column("kind", Name, nullable=False),
    Column("slug", Name, nullable=False),
    Index("ix_names_slug", "slug", "kind"),
)

operation_specs = Table(
    "operation_specs",
    metadata,
    Column("digest", Digest, primary_key=True),
    Column("slug", Name, nullable=False),
    Column("family", Name, nullable=False),
    Column("mapped", Boolean, nullable=False),
    Index("ix_operation_specs_slug", "slug"),
)

operations = Table(
    "operations",
    metadata,
    Column("slug", Name, primary_key=True),
    Column("title", Words, nullable=False),
    Column("family", Name, nullable=False),
    Column("mapped", Boolean, nullable=False),
    Column("aliases", Words, nullable=False),
    Column("digests", Words, nullable=False),
    Column("run_count", Integer, nullable=False),
    Column("cohort_count", Integer, nullable=False),
    Column("shape_count", Integer, nullable=False),
    Column("implementation_count", Integer, nullable=False),
)

implementations = Table(
    "implementations",
    metadata,
    Column("digest", Digest, primary_key=True),
    Column("title", Words, nullable=False),
    Column("project", Name, nullable=False),
    Column("operation", Name, nullable=False),
    Column("line_id", Words, nullable=False),
    Column("language", Name, nullable=False),
    Column("run_count", Integer, nullable=False),
    Index("ix_implementations_operation", "operation", "digest"),
    Index("ix_implementations_project", "project", "digest"),
)

projects = Table(
    "projects",
    metadata,
    Column("slug", Name, primary_key=True),
    Column("title", Words, nullable=False),
    Column("digest", Digest),
    Column("implementation_count", Integer, nullable=False),
    Column("run_count", Integer, nullable=False),
)

hardware = Table(
    "hardware",
    metadata,
    Column("id", Name, primary_key=True),
    Column("label", Words, nullable=False),
    Column("family", Name, nullable=False),
    Column("vendor", Name, nullable=False),
    Column("architecture", Name, nullable=False),
    Column("product_id", Name),
    Column("run_count", Integer, nullable=False),
)

shapes = Table(
    "shapes",
    metadata,
    Column("shape_key", Digest, primary_key=True),
    Column("operation", Name, nullable=False),
    Column("axes", Words, nullable=False),
    Column("dtypes", Words, nullable=False),
    Column("distribution", Name),
    Column("cohort_count", Integer, nullable=False),
    Column("run_count", Integer, nullable=False),
    Column("devices", Words, nullable=False),
    Column("passes", Words, nullable=False),
    Index("ix_shapes_operation", "operation", "shape_key"),
    Index("ix_shapes_axes", "operation", "axes"),
)

facets = Table(
    "facets",
    metadata,
    Column("facet", Name, primary_key=True),
    Column("value", Name, primary_key=True),
    Column("count", Integer, nullable=False),
)

search_documents = Table(
    "search_documents",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("key", Name, nullable=False),
    Column("kind", Name, nullable=False),
    Column("slug", Name, nullable=False),
    Column("title", Words, nullable=False),
    Column("subtitle", Words, nullable=False),
    Column("words", Words, nullable=False),
    Column("run_count", Integer, nullable=False),
    UniqueConstraint("key"),
)

vocabulary = Table(
    "vocabulary",
    metadata,
    Column("word", Name, primary_key=True),
    Column("weight", Integer, nullable=False),
)

underived = Table(
    "underived_runs",
    metadata,
    Column("digest", Digest, primary_key=True),
)


def _twin(table: Table, *indexed: str) -> Table:
    """A table of the same columns for rows that publishing will replace."""
    columns = [Column(c.name, c.type, primary_key=c.primary_key) for c in table.columns]
    indexes = [Index(f"ix_pending_{table.name}_{name}", name) for name in indexed]
    return Table(f"pending_{table.name}", metadata, *columns, *indexes)


pending_runs = _twin(runs, "cohort_key", "shape_key", "implementation_digest")
pending_facts = _twin(run_facts)

work_runs = Table(
    "work_runs",
    metadata,
    Column("digest", Digest, primary_key=True),
    Column("superseded_by", Digest),
    Column("retracted", Words),
)

work_cohorts = Table(
    "work_cohorts",
    metadata,
    Column("key", Digest, primary_key=True),
)

work_keys = Table(
    "work_keys",
    metadata,
    Column("listing", Name, primary_key=True),
    Column("key", Words, primary_key=True),
)

LISTINGS = {
    table: _twin(table)
    for table in (
        names,
        operation_specs,
        operations,
        implementations,
        projects,
        hardware,
        shapes,
        facets,
        search_documents,
        vocabulary,
    )
}
"""Lists and the twins their new rows wait in."""

WORKING = (pending_runs, pending_facts, work_runs, work_cohorts, work_keys, *LISTINGS.values())
"""Scratch space of the one writer that is deriving; never read by anybody else."""

LOGICAL = (
    runs,
    *LISTINGS,
    underived,
)
"""What a rebuild must reproduce as it is; facts, cohorts, entries and events beside it."""
