from __future__ import annotations

import pytest

from kernelindex.manifests import V1ALPHA1, V1ALPHA2
from kernelindex.manifests.tables import Row, field_table, fill_tables, rows


def row(kind: str, version: str, path: str) -> Row:
    (found,) = [one for one in rows(kind, version) if one.path == path]
    return found


@pytest.mark.parametrize(
    ("kind", "path", "type_", "required"),
    [
        ("BenchmarkRun", "implementationDigest", "digest", True),
        ("BenchmarkRun", "observedAt", "instant", True),
        ("BenchmarkRun", "timing.latencyNs.median", "duration", False),
        ("BenchmarkRun", "timing.latencyNs.confidence95", "pair of duration", False),
        ("BenchmarkRun", "evidence.logs", "artifact", False),
        ("BenchmarkRun", "sourceNative.metrics", "map from token to number", False),
        ("OperationSpec", "inputs", "list (1 or more) of object", True),
        ("OperationSpec", "inputs[].tensor.shape", "list (1 or more) of integer or token", True),
        ("OperationSpec", "axes{}.type", "`integer`", True),
        ("ImplementationRevision", "support.dtypes", "set of token", True),
        ("WorkloadCase", "correctness.requiredMatchedRatio", "number 0 to 1", False),
        ("WorkloadCase", "scalars{}.value", "true or false or number or text", True),
        ("ServingRun", "measurements", "list (1 to 64) of object", True),
        ("ServingWorkload", "slo[].operator", "`<=`, `<`", True),
        ("Metadata", "name", "name", True),
        ("Metadata", "title", "text ≤ 200", False),
    ],
)
def test_rows(kind: str, path: str, type_: str, required: bool) -> None:
    found = row(kind, V1ALPHA1, path)
    assert (found.type, found.required) == (type_, required)
    assert found.description


def test_every_field_says_what_it_is() -> None:
    from kernelindex.manifests import API_VERSIONS, KINDS

    silent = [
        (kind, version, one.path)
        for version in API_VERSIONS
        for kind in KINDS
        for one in rows(kind, version)
        if not one.description.endswith(".")
    ]
    assert silent == []


def test_new_fields_carry_a_plus() -> None:
    table = field_table("BenchmarkProtocol", V1ALPHA2)
    assert "| `timedPass` **+** | `forward`, `backward`, `full`, `inference` |  |" in table
    assert "| `harness.name` | text ≤ 200 | yes |" in table
    assert "**+**" not in field_table("SoftwareProject", V1ALPHA2)


def test_only_marked_places_of_a_page_change() -> None:
    page = "# Page\n\n<!-- fields: ModelRevision -->\nold\n<!-- end -->\ntext\n"
    filled = fill_tables(page, V1ALPHA1)
    assert filled.startswith("# Page\n\n<!-- fields: ModelRevision -->\n| field | type |")
    assert filled.endswith("\n<!-- end -->\ntext\n")
    assert "old" not in filled
    assert fill_tables(filled, V1ALPHA1) == filled


def test_a_marked_place_for_no_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="no kind 'Model'"):
        fill_tables("<!-- fields: Model -->\n<!-- end -->", V1ALPHA1)
