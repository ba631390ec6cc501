"""What can be deployed for the workload of record, over the evidence that the package ships."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from kernelindex.catalog import Catalog, import_records
from kernelindex.policy.licensing import read_licensing
from kernelindex.resolve import ask_text
from kernelindex.resolve.answer import Answer, Entry
from kernelindex.resolve.implementation_page import find_implementation, show_implementation
from kernelindex.resolve.use import read_use
from kernelindex.site import create_app
from kernelindex.sources import find_source
from kernelindex.web import paths
from tests.cli.factories import Terminal

QUERY = "moe-mlp tokens=8192 experts=64 gpu:H200 pass:full"
OURS = "https://github.com/kernelindex/kernelindex"
SONIC = "SonicMoE"
NVIDIA = "LicenseRef-NVIDIA-Software-License"
WORDS = (
    "What leads, in 4 of 6 groups. Elsewhere Liger fused MoE 6.34 ms (KernelIndex MoE scripts,"
    " interleaved); Transformers grouped_mm 8.70 ms (KernelIndex MoE scripts, loop)."
)


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    """The starter evidence and every signed batch that ships."""
    path = tmp_path_factory.mktemp("shipped") / "ki.db"
    with Catalog.create(f"sqlite:///{path}") as found:
        for source in ("starter", "records"):
            import_records(found, *find_source(source).read())
        yield found


@pytest.fixture(scope="module")
def answer(catalog: Catalog) -> Answer:
    return ask_text(catalog, QUERY)


def entries_of(answer: Answer, title: str) -> list[Entry]:
    every = (entry for cohort in answer.cohorts for entry in cohort.entries)
    return [entry for entry in every if entry.implementation.title == title]


def test_the_slot_has_the_best_that_can_be_deployed_in_every_group(answer: Answer) -> None:
    assert [pick.text for pick in answer.best.deployable.picks] == [
        "KernelIndex moe_mlp 2.93 ms",
        "KernelIndex moe_mlp 3.32 ms",
        "KernelIndex moe_mlp 3.36 ms",
        "Liger fused MoE 6.96 ms",
        "Liger fused MoE 6.34 ms",
        "Transformers grouped_mm 8.70 ms",
    ]
    assert answer.best.deployable.would_fill is None
    for pick in answer.best.deployable.picks:
        cohort = next(one for one in answer.cohorts if one.key == pick.cohort)
        fit = [entry for entry in cohort.entries if entry.deployable]
        first = [one for one in fit if one.implementation.line == fit[0].implementation.line]
        newest = max(first, key=lambda entry: entry.run.observed)
        assert pick.runs == (newest.run.digest,)


def test_why_the_others_are_not_names_what_is_lacking(answer: Answer) -> None:
    assert {entry.why_not for entry in entries_of(answer, SONIC)} == {
        (
            "it needs nvidia-cutlass-dsl and nvidia-cutlass-dsl-libs-base, which are under the"
            f" owner's own terms ({NVIDIA}): only for those who accept them",
        )
    }
    own = entries_of(answer, "torch grouped_mm, hand-written backward")
    by_revision = {entry.revision: entry.why_not for entry in own}
    assert by_revision["source 1a7d0842d6ed"] == ()
    assert by_revision["unstated"] == (
        "licence Apache-2.0 declared, not concluded with its dependencies",
        "no install recipe",
    )


def test_every_source_of_ours_that_a_batch_pins_is_concluded(catalog: Catalog) -> None:
    """A batch that ships with newer sources of ours needs them under the conclusion as well."""
    runs = catalog.runs({"source": "kernelindex-runner"}, limit=500).rows
    found = catalog.documents(sorted({row.implementation["digest"] for row in runs}))
    specs = [document["spec"] for document in found.values()]
    ours = [
        one for one in specs if one["projectRevision"]["repository"] == OURS and "source" in one
    ]
    assert len(ours) >= 2
    assert [one for one in ours if not read_licensing(one).concluded] == []


def test_installable_keeps_what_is_deployable(catalog: Catalog) -> None:
    found = ask_text(catalog, f"{QUERY} installable:yes")
    assert [pick.text for pick in found.best.reported.picks] == [
        pick.text for pick in found.best.deployable.picks
    ]
    assert SONIC in {item.title for item in found.excluded}


@pytest.mark.parametrize(
    ("asked", "left_out"),
    [
        ("license:Apache-2.0", {SONIC, "Liger fused MoE"}),
        (f"license:Apache-2.0 license:{NVIDIA}", {"Liger fused MoE"}),
        ("license:Apache-2.0 license:MIT license:BSD-2-Clause", {SONIC}),
        ("license:MIT license:BSD-2-Clause", None),
    ],
)
def test_a_licence_filter_goes_by_parts_and_names_owners_terms(
    catalog: Catalog, asked: str, left_out: set[str] | None
) -> None:
    found = ask_text(catalog, f"{QUERY} {asked}")
    refused = {
        item.title: reason.text
        for item in found.excluded
        for reason in item.reasons
        if reason.code == "licence_not_accepted"
    }
    if left_out is None:
        assert refused["KernelIndex moe_mlp"].startswith("its licence is Apache-2.0; accepted are")
        return
    assert set(refused) == left_out
    if SONIC in left_out:
        assert refused[SONIC].startswith("it needs nvidia-cutlass-dsl and ")


def test_using_an_entry_has_its_licence_and_its_recipe(catalog: Catalog, answer: Answer) -> None:
    entries = answer.cohorts[0].entries
    use = {
        e.implementation.title: one
        for e, one in zip(entries, read_use(catalog, entries), strict=True)
    }
    ours = use["KernelIndex moe_mlp"]
    assert ours.licence == "Apache-2.0, reviewed with all that it needs"
    assert ours.install is not None
    assert ours.install.endswith("git+https://github.com/kernelindex/kernelindex'")
    assert use[SONIC].licence == f"Apache-2.0, reviewed with all that it needs; needs {NVIDIA}"


def test_the_command_line_says_it(
    catalog: Catalog, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal(capsys, monkeypatch)
    printed = " ".join(terminal.ki("resolve", QUERY, catalog=catalog).out.split())
    assert f"Best deployable {WORDS}" in printed
    full = " ".join(terminal.ki("resolve", QUERY, "--full", catalog=catalog).out.split())
    assert re.search(r"deployable +H200 SXM 141GB full: KernelIndex moe_mlp 2\.93 ms;", full)
    data = terminal.ki("resolve", QUERY, "--json", catalog=catalog).data
    assert data["best"]["deployable"]["picks"][0]["text"] == "KernelIndex moe_mlp 2.93 ms"


def test_the_pages_say_it(catalog: Catalog, answer: Answer, tmp_path: Path) -> None:
    client = TestClient(create_app(catalog=catalog, cache=tmp_path), follow_redirects=True)

    def words(path: str) -> str:
        return " ".join(unescape(re.sub(r"<[^>]+>", " ", client.get(path).text)).split())

    assert f"Best deployable {WORDS}" in words(paths.answer(QUERY))
    (interleaved,) = (
        pick for pick in answer.best.deployable.picks if pick.text == "Liger fused MoE 6.34 ms"
    )
    group = words(paths.cohort(interleaved.cohort))
    assert "Best deployable Liger fused MoE 6.34 ms" in group


def test_a_page_has_the_conclusion_with_the_files_it_was_read_from(
    catalog: Catalog, answer: Answer, tmp_path: Path
) -> None:
    client = TestClient(create_app(catalog=catalog, cache=tmp_path))
    slug = entries_of(answer, SONIC)[0].implementation.slug
    review = show_implementation(catalog, find_implementation(catalog, slug)).review
    assert review is not None
    assert (review.by, review.date) == ("The KernelIndex authors", "2026-11-30")
    assert NVIDIA in review.expression
    cutlass = next(one for one in review.packages if one.name == "nvidia-cutlass-dsl")
    assert cutlass.licence == NVIDIA
    assert cutlass.digest.startswith("sha256:9ed3a0344d6b")
    page = client.get(paths.implementation(slug)).text
    assert "nvidia_cutlass_dsl-4.4.2.dist-info/licenses/LICENSE" in page
    concluding = next(
        pick.runs[0]
        for pick in answer.best.deployable.picks
        if pick.text == "Liger fused MoE 6.34 ms"
    )
    every = (entry for cohort in answer.cohorts for entry in cohort.entries)
    slug = next(one.implementation.slug for one in every if one.run.digest == concluding)
    assert show_implementation(catalog, find_implementation(catalog, slug)).review is None
