from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from kernelindex.catalog.intake import Row
from kernelindex.registry.equivalence import (
    load_mappings,
    map_line,
    map_operation,
    upstream_name,
)
from kernelindex.registry.operations import find_operation, load_operations
from kernelindex.sources import find_source
from tests.support.shared import shared_path

EXPORT = "data/kernelindex-export/catalog-2026-08-16-0022af0b.jsonl.zst"
SCRIPT = Path(__file__).parents[2] / "scripts/fill_export_equivalence.py"


def digest_called(name: str) -> str:
    """The one digest that has this upstream name in the export's mappings."""
    return next(digest for digest, mapping in load_mappings().items() if mapping.name == name)


def implementation(operation: str, name: str, *, title: str, author: str = "") -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name, "title": title}
    if author:
        metadata["authors"] = [{"name": author}]
    return {"metadata": metadata, "spec": {"operation": {"specDigest": operation}}}


def test_axes_and_constants_are_axes_of_ours() -> None:
    for digest, mapping in load_mappings().items():
        axes = {axis.name for axis in load_operations()[mapping.slug].axes}
        assert set(mapping.axes.values()) <= axes, digest
        assert set(mapping.constants) <= axes, digest
        assert not set(mapping.axes) & set(mapping.dropped), digest


def test_tensors_have_our_names_or_keep_their_own() -> None:
    for mapping in load_mappings().values():
        operation = load_operations()[mapping.slug]
        ours = {tensor.name for tensor in (*operation.inputs, *operation.outputs)}
        assert all(to in ours or to == of for of, to in mapping.tensors.items()), mapping.name


def test_a_definition_fixes_axes_that_its_workloads_leave_out() -> None:
    mapping = map_operation(digest_called("gemm_n4096_k14336"))
    assert mapping is not None
    assert (mapping.slug, mapping.constants) == ("gemm", {"n": 4096, "k": 14336})
    assert mapping.axes == {"m": "m", "n": "n", "k": "k"}


def test_routing_constants_come_from_the_name() -> None:
    name = "moe_fp8_block_scale_ds_routing_topk8_ng8_kg4_e32_h7168_i2048"
    mapping = map_operation(digest_called(name))
    assert mapping is not None
    assert {"k": 8, "expert_groups": 8, "kept_groups": 4}.items() <= mapping.constants.items()


def test_a_seed_is_no_part_of_the_shape() -> None:
    mapping = map_operation(digest_called("amd-fp8-mm"))
    assert mapping is not None
    assert "seed" not in mapping.axes
    assert mapping.dropped["seed"] == "data, not shape"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("rmsnorm_h4096", "025_rmsnorm_h4096", True),
        ("gemm_n4096_k4096", "gemm_mxfp4_n4096_k4096", False),
        ("gemm_n4096_k4096", "matmul_v2", False),
        ("gqa_paged_decode_h32_kv8_d128_ps1", "gqa_paged_decode_h32_kv8_d128_ps64", True),
        ("rmsnorm_h2048", "fused_add_rmsnorm_h2048", False),
    ],
)
def test_what_is_the_same_operation(one: str, other: str, same: bool) -> None:
    slugs = {load_mappings()[digest_called(name)].slug for name in (one, other)}
    assert (len(slugs) == 1) is same


def test_a_fused_add_without_the_sum_is_not_the_one_with_it() -> None:
    mapping = map_operation(digest_called("fused_add_rmsnorm_h4096"))
    assert mapping is not None
    assert mapping.slug != "fused-add-rms-norm"


def test_what_is_not_surely_equal_is_named_but_not_mapped() -> None:
    fused_in_disguise = "sha256:4217a007b5405bae278c0835e9d4af24a2755be9ce3eb0d850373a4854ade548"
    assert map_operation(fused_in_disguise, "rms-norm") is None
    assert upstream_name(fused_in_disguise) == "069_rms_norm"


def test_an_unknown_operation_has_neither() -> None:
    assert map_operation("sha256:" + "00" * 32, "gemm") is None
    assert upstream_name("sha256:" + "00" * 32) is None


def test_submissions_of_one_user_to_one_problem_are_one_line() -> None:
    problem = digest_called("prefixsum_v2")
    lines = [
        map_line(
            "gpumode-kernelbot",
            implementation(problem, f"kernelbot-submission-{n}", title=f"x · {n}", author="ada"),
            project="kernelbot-user-1",
        )
        for n in (1, 2)
    ]
    assert lines[0] == lines[1]
    assert lines[0] is not None
    assert (lines[0].id, lines[0].title) == ("kernelbot-user-1/prefixsum_v2", "ada · prefixsum_v2")


def test_a_solution_belongs_to_one_definition() -> None:
    ids = set()
    for definition in ("gemm_n4096_k4096", "gemm_n4096_k14336"):
        document = implementation(digest_called(definition), "wrapper", title="wrapper_abc")
        line = map_line("flashinfer-bench", document, project="flashinfer-baseline")
        assert line is not None
        assert line.title == "wrapper_abc"
        ids.add(line.id)
    assert ids == {
        "flashinfer-baseline/gemm_n4096_k4096/wrapper_abc",
        "flashinfer-baseline/gemm_n4096_k14336/wrapper_abc",
    }


@pytest.mark.parametrize(
    ("source", "project"), [("gpumode-kernelbot", None), ("elsewhere", "kernelbot-user-1")]
)
def test_no_line_is_guessed(source: str, project: str | None) -> None:
    document = implementation(digest_called("sort_v2"), "kernelbot-submission-9", title="x")
    assert map_line(source, document, project=project) is None


@pytest.mark.parametrize(
    ("words", "slug"),
    [
        ("prefix sum", "prefix-sum"),
        ("fp8 gemm", "gemm-fp8-block-scaled"),
        ("causal conv1d", "causal-conv1d"),
        ("causal_conv1d", "causal-conv1d"),
        ("vectorsum_v2", "vector-sum"),
        ("amd-mixture-of-experts", "moe-layer"),
        ("nvfp4 gemm", "gemm-nvfp4-batched"),
        ("paged attention decode", "gqa-paged-decode"),
        ("mla", "mla-paged-decode"),
        ("rmsnorm", "rms-norm"),
    ],
)
def test_operations_are_found_by_the_words_people_use(words: str, slug: str) -> None:
    found = find_operation(words).operation
    assert found is not None
    assert found.slug == slug


def test_the_mappings_are_those_of_the_public_export() -> None:
    export = shared_path(EXPORT)
    done = subprocess.run([sys.executable, str(SCRIPT), str(export), "--check"], check=False)
    assert done.returncode == 0


@pytest.mark.slow
def test_no_line_of_the_export_spans_two_operations() -> None:
    links: dict[str, str] = {}
    documents: dict[str, Any] = {}
    source_of: dict[str, str] = {}
    for row in find_source("kernelindex-export").read(shared_path(EXPORT))[1]:
        if not isinstance(row, Row):
            continue
        links |= {link.implementation_digest: link.project for link in row.links}
        for manifest in row.manifests:
            if manifest.kind == "ImplementationRevision":
                documents[manifest.digest] = manifest.document
            elif manifest.kind == "BenchmarkRun" and row.observation:
                spec = manifest.document["spec"]
                source_of[spec["implementationDigest"]] = row.observation.source
    operations = defaultdict(set)
    for digest, source in source_of.items():
        line = map_line(source, documents[digest], project=links.get(digest))
        assert line is not None, documents[digest]["metadata"]["name"]
        operations[line.id].add(documents[digest]["spec"]["operation"]["specDigest"])
    assert len(operations) == 1732
    assert all(len(digests) == 1 for digests in operations.values())
