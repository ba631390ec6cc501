"""The reviewed table itself: every entry is complete, cited and means one thing."""

from __future__ import annotations

import re

import pytest

from kernelindex.ids import COMMIT
from kernelindex.manifests.expressions import axis_names
from kernelindex.registry.dtypes import DTYPES
from kernelindex.registry.operations import PASSES, load_operations
from kernelindex.sources.liger.table import (
    Entry,
    harnesses,
    load_lines,
    load_table,
    projects,
    releases,
)

ENTRIES = [entry for kernel in load_table().values() for entry in kernel]
each = pytest.mark.parametrize("entry", ENTRIES, ids=[entry.id for entry in ENTRIES])
RULES = re.compile(r"axis|flag|dtype|scalar|ignore: .{5,}")


def test_every_kernel_of_both_files_has_an_entry() -> None:
    assert len(load_table()) >= 35
    assert len({entry.id for entry in ENTRIES}) == len(ENTRIES)


@each
def test_an_entry_cites_script_revision_and_lines(entry: Entry) -> None:
    assert re.fullmatch(r"benchmark/scripts/benchmark_\w+\.py", entry.script.path)
    assert re.fullmatch(r"\d+(-\d+)?", entry.script.lines)
    assert re.fullmatch(COMMIT, entry.script.revision) or re.fullmatch(
        r"v\d+\.\d+\.\d+", entry.script.revision
    )
    assert entry.script.url.endswith(f"#L{entry.script.lines.split('-')[0]}")


@each
def test_a_bound_dtype_rests_on_a_commit_and_on_named_releases(entry: Entry) -> None:
    states_one = "dtype" in entry.config.values()
    assert states_one == (entry.bound_dtype is None)
    if entry.bound_dtype is not None:
        assert entry.bound_dtype in DTYPES
        assert re.fullmatch(COMMIT, entry.script.revision)
        assert entry.versions
        assert entry.script.note


@each
def test_axes_cover_the_operation_and_use_what_rows_have(entry: Entry) -> None:
    operation = load_operations()[entry.operation]
    assert set(entry.axes) == {axis.name for axis in operation.axes if not axis.derived}
    usable = {key.lower() for key, rule in entry.config.items() if rule in ("axis", "flag")}
    usable |= {name.lower() for name in entry.x_names}
    usable |= {key.lower() for key, rule in entry.config.items() if isinstance(rule, list)}
    for expression in entry.axes.values():
        assert axis_names(expression) <= usable
    needed = {key.lower() for key, rule in entry.config.items() if rule == "axis"}
    assert needed <= {name for text in entry.axes.values() for name in axis_names(text)}


@each
def test_every_config_rule_is_known_and_what_is_ignored_says_why(entry: Entry) -> None:
    for rule in entry.config.values():
        assert isinstance(rule, list) or RULES.fullmatch(rule), rule


@each
def test_modes_lines_and_harness_exist(entry: Entry) -> None:
    assert entry.harness in harnesses()
    assert {mode.timed_pass for mode in entry.modes.values()} <= set(PASSES)
    for provider in entry.providers.values():
        assert provider.line in load_lines()
    tensors = {tensor.name for tensor in load_operations()[entry.operation].inputs}
    assert set(entry.generators) <= tensors
    assert set(entry.tensor_dtypes) <= tensors


@each
def test_work_in_the_timed_region_is_in_the_region_or_the_input(entry: Entry) -> None:
    for work in entry.extra:
        assert work.text
        assert set(work.modes) <= set(entry.modes)
        for mode in work.modes:
            includes = entry.modes[mode].includes or ()
            sums = "sums the output" in work.text
            assert sums or {"gradient_accumulation", "random_numbers"} & set(includes)


def test_lines_are_of_known_projects_and_each_callable_is_one_line() -> None:
    lines = load_lines().values()
    assert {line.project for line in lines} <= set(projects())
    callables = {(line.repository, line.path, line.symbol, line.language) for line in lines}
    assert len(callables) == len(lines)


def test_only_copies_inside_the_benchmark_restate() -> None:
    restated = {line.id for line in load_lines().values() if line.restates}
    assert "liger-benchmark/moe-expert-loop" in restated
    assert all(line.startswith("liger-benchmark/") for line in restated)


def test_what_ran_for_huggingface_in_fused_moe_is_the_scripts_loop() -> None:
    (entry,) = load_table()["fused_moe"]
    line = load_lines()[entry.providers["huggingface"].line]
    assert (line.project, line.symbol) == ("liger-benchmark", "_huggingface_moe_forward")
    assert line.path == "benchmark/scripts/benchmark_fused_moe.py"


def test_tested_architectures_are_of_releases_that_some_line_is_in() -> None:
    shipped = {version for line in load_lines().values() for version in line.releases}
    assert set(releases()["architectures"]) <= shipped


@pytest.mark.parametrize("kernel", ["rms_norm", "swiglu", "cross_entropy"])
def test_the_megatron_scripts_backward_times_a_full_step(kernel: str) -> None:
    (entry,) = load_table()[f"megatron_{kernel}"]
    assert entry.modes["backward"].timed_pass == "full"
    assert "forward" in entry.modes["backward"].note
