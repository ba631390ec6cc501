from __future__ import annotations

from importlib.resources import files

from kernelindex.registry.equivalence import map_line, map_operation
from kernelindex.registry.operation_specs import build_operation
from kernelindex.sources.liger.building import build_implementation
from kernelindex.sources.liger.equivalence import FILE, render
from kernelindex.sources.liger.table import load_table


def test_the_generated_file_is_current() -> None:
    stored = files("kernelindex").joinpath(FILE).read_text()
    assert stored == render(), "run python -m kernelindex.sources.liger.equivalence"


def test_every_operation_of_the_table_maps_to_itself() -> None:
    for kernel in load_table().values():
        for entry in kernel:
            mapping = map_operation(build_operation(entry.operation).digest)
            assert mapping is not None
            assert mapping.slug == entry.operation
            assert all(mapping.axes[name] == name for name in entry.axes)


def test_every_provider_of_the_table_has_its_line_whatever_the_version() -> None:
    for kernel in load_table().values():
        for entry in kernel:
            for provider in entry.providers.values():
                for version in ("", "0.7.0"):
                    made = build_implementation(provider.line, entry.operation, version)
                    line = map_line("liger-kernel-bench", made.document)
                    assert line is not None
                    assert line.id == provider.line


def test_the_expert_loop_restates_transformers() -> None:
    made = build_implementation("liger-benchmark/moe-expert-loop", "moe-mlp", "0.7.0")
    line = map_line("liger-kernel-bench", made.document)
    assert line is not None
    assert line.restates is not None
    assert "Mixtral" in line.restates
