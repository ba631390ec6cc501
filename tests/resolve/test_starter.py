"""The same questions over a real catalog: the workload of record."""

from __future__ import annotations

import pytest

from kernelindex.catalog import Catalog
from kernelindex.catalog.rows import Found, StoredManifest
from kernelindex.client import Client
from kernelindex.errors import AmbiguousError, NotFoundError, RequestError
from kernelindex.resolve import ask_text
from kernelindex.resolve.compare import compare_runs
from kernelindex.resolve.dossier import ObjectDossier
from kernelindex.resolve.lists import list_records, list_runs
from kernelindex.resolve.objects import show, show_object
from kernelindex.resolve.show import show_run
from tests.resolve.factories import RECORD, RECORD_QUERY, FakeCatalog, digest

ORIGINAL_ID = "01a0202b"
BOTH = {
    "SINGLE_SAMPLE",
    "CORRECTNESS_NOT_ASSERTED",
    "NO_SOFTWARE_VERSIONS",
    "HARNESS_WORK_IN_TIMED_REGION",
}


def runs_of(catalog: Catalog, query: str = RECORD_QUERY) -> list[str]:
    cohort = ask_text(catalog, query).cohorts[0]
    return [entry.run.digest for entry in cohort.entries]


def test_the_record_on_h100_is_what_the_original_page_shows(starter: Catalog) -> None:
    answer = ask_text(starter, RECORD_QUERY)
    assert answer.match == "exact"
    (cohort,) = answer.cohorts
    liger, loop = cohort.entries
    assert [(e.run.primary.value, e.rank.low, e.rank.high) for e in (liger, loop)] == [
        (5751872, 1, 1),
        (63962017, 2, 2),
    ]
    codes = [{doubt.code for doubt in entry.doubts} for entry in (liger, loop)]
    assert codes[0] >= BOTH
    assert codes[1] >= BOTH | {"RESTATED_IMPLEMENTATION"}
    assert liger.limit.tflops == pytest.approx(215, abs=1)
    assert liger.limit.percent_nominal == pytest.approx(22, abs=0.5)


def test_the_sentence_says_who_how_much_and_how_far_to_trust(starter: Catalog) -> None:
    summary = ask_text(starter, RECORD_QUERY).summary
    assert summary.startswith("Liger fused MoE leads (only 2 measured), 5.75 ms, 11.1x ahead of a")
    assert summary.endswith("Reported, one sample each; not rerun on H100.")


def test_every_gpu_has_its_own_group_when_none_is_asked_for(starter: Catalog) -> None:
    answer = ask_text(starter, RECORD_QUERY.replace("gpu:H100", ""))
    families = {cohort.hardware.family for cohort in answer.cohorts}
    assert (answer.match, families) == ("exact", {"H100", "H200"})
    assert {note.code for note in answer.assumptions} >= {"hardware_any", "sources_apart"}


def test_a_shape_between_measured_ones_has_no_latency_of_its_own(starter: Catalog) -> None:
    answer = ask_text(starter, RECORD_QUERY.replace("experts=64", "experts=48"))
    assert (answer.match, answer.cohorts) == ("nearest", ())
    assert answer.nearest[0].differences[0].text == "experts 64 instead of 48"
    assert "Nothing was measured below it." in answer.neighbours[0].text


def test_the_dossier_of_the_loop_has_what_the_original_lacks(starter: Catalog) -> None:
    run = show_run(starter, runs_of(starter)[1])
    assert run.standing.text == "2 of 2, 11.1x behind #1"
    assert (run.ladder.reached, run.ladder.next) == ("reported", "reproducible")
    assert run.ladder.missing
    assert run.implementation.restated is True
    assert run.sample_count == 1
    assert run.source_native["metrics"]["ms_50"] == 63.96201705932617
    assert run.source.rows[0]["row"]["y_value_50"] == "63.96201705932617"
    assert run.shape.axes == RECORD
    assert set(run.manifests) == {
        "run",
        "workload",
        "operation",
        "implementation",
        "protocol",
        "environment",
    }
    assert run.identity.run in run.citation


def test_a_run_is_found_by_prefix_and_by_the_original_id(starter: Catalog) -> None:
    digest = runs_of(starter)[1]
    assert show_run(starter, digest[:15]).identity.run == digest
    assert show_run(starter, digest.removeprefix("sha256:")[:8]).identity.run == digest
    assert show_run(starter, ORIGINAL_ID).identity.run == digest


@pytest.mark.parametrize(
    ("word", "ident"), [("run", "deadbeef"), ("protocol", "nothing"), ("operation", "nothing")]
)
def test_what_is_not_there_is_not_found(starter: Catalog, word: str, ident: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        show_run(starter, ident) if word == "run" else show_object(starter, word, ident)
    assert caught.value.code == f"{word}.not_found"


def test_several_matches_are_all_listed() -> None:
    class Two(FakeCatalog):
        def find(self, ident: str, *kinds: str) -> list[Found]:
            both = digest(ident), digest(ident + "2")
            return [Found(kind=kinds[0], digest=d, title="T", via="digest") for d in both]

    with pytest.raises(AmbiguousError) as caught:
        show_object(Two([]), "environment", "0123abcd")
    assert caught.value.code == "environment.ambiguous"
    assert [match["title"] for match in caught.value.details["matches"]] == ["T", "T"]


def test_a_serving_run_is_shown_by_its_manifest() -> None:
    document = {
        "apiVersion": "kernelindex.dev/v1alpha1",
        "kind": "ModelRevision",
        "metadata": {"name": "tiny"},
        "spec": {"model": "Tiny"},
    }

    class Serving(FakeCatalog):
        def find(self, ident: str, *kinds: str) -> list[Found]:
            found = Found(kind="ServingRun", digest=digest(ident), title="S", via="digest")
            return [found] if "ServingRun" in kinds else []

        def manifest(self, ident: str) -> StoredManifest:
            return StoredManifest(
                digest=ident,
                kind="ServingRun",
                document=document,
                slug="s",
                title="S",
                sources=(),
                aliases=(),
            )

    found = show(Serving([]), "run", "0123abcd")
    assert isinstance(found, ObjectDossier)
    assert (found.kind, found.manifest) == ("ServingRun", document)


def test_objects_have_their_manifest_and_links(starter: Catalog) -> None:
    run = show_run(starter, runs_of(starter)[0])
    workload = show_object(starter, "workload", run.identity.workload)
    assert workload.manifest["kind"] == "WorkloadCase"
    assert [link.digest for link in workload.links] == [run.identity.operation]
    assert run.identity.run in {line.digest for line in workload.runs}
    operation = show_object(starter, "operation", "fused-moe")
    assert operation.slug == "moe-mlp"
    assert operation.facts["family"] == "moe"
    assert operation.cohorts


def test_runs_of_one_cohort_get_a_verdict(starter: Catalog) -> None:
    comparison = compare_runs(starter, runs_of(starter))
    (verdict,) = comparison.verdicts
    assert (verdict.verdict, comparison.comparable) == ("SLOWER", True)
    assert verdict.ratio == pytest.approx(63962017 / 5751872)
    assert comparison.first_difference is None
    swapped = compare_runs(starter, runs_of(starter)[::-1])
    assert swapped.verdicts[0].verdict == "FASTER"


def test_runs_of_two_cohorts_get_the_first_material_mismatch(starter: Catalog) -> None:
    h100 = runs_of(starter)[0]
    h200 = runs_of(starter, RECORD_QUERY.replace("H100", "H200"))[0]
    comparison = compare_runs(starter, (h100, h200))
    assert comparison.verdicts[0].verdict == "INCOMPARABLE"
    assert comparison.first_difference.startswith("protocol differs")
    device = next(field for field in comparison.fields if field.name == "device")
    assert (device.same, device.material) == (False, True)


@pytest.mark.parametrize("count", [1, 9])
def test_compare_takes_two_to_eight(starter: Catalog, count: int) -> None:
    with pytest.raises(RequestError) as caught:
        compare_runs(starter, runs_of(starter)[:1] * count)
    assert caught.value.code == "compare.count"


def test_a_run_is_not_compared_with_itself_under_any_name(starter: Catalog) -> None:
    leader, loop = runs_of(starter)
    for names in ((loop, loop), (loop, ORIGINAL_ID), (leader, loop, loop[7:19])):
        with pytest.raises(RequestError, match="is given twice") as caught:
            compare_runs(starter, names)
        assert caught.value.code == "compare.count"


def test_runs_are_filtered_and_paged(starter: Catalog) -> None:
    first = list_runs(starter, operation="moe", gpu="H100", limit=1)
    second = list_runs(starter, operation="moe", gpu="H100", limit=1, cursor=first.cursor)
    assert {first.runs[0].digest, second.runs[0].digest} == set(runs_of(starter))
    assert second.cursor is None
    with pytest.raises(RequestError) as caught:
        list_runs(starter, gpu="H10O")
    assert caught.value.details["problems"][0]["correction"] == "h100"


def test_records_name_the_leader_and_an_only_result_has_none(starter: Catalog) -> None:
    records = list_records(starter, operation="moe-mlp").records
    h100 = [record for record in records if record.hardware.startswith("H100")]
    assert [(record.leader, record.current) for record in h100] == [("Liger fused MoE", True)]


def test_licences_are_read_from_the_implementation(starter: Catalog) -> None:
    answer = ask_text(starter, RECORD_QUERY + " license:MIT")
    reasons = {reason.code for item in answer.excluded for reason in item.reasons}
    assert reasons == {"licence_not_accepted"}
    assert answer.best.reported.picks == ()
    accepted = ask_text(starter, RECORD_QUERY + " license:BSD-2-Clause")
    assert accepted.best.reported.picks[0].how == "leads"


def test_the_client_answers_as_the_command_line_does(starter: Catalog) -> None:
    client = Client(starter)
    document = {"operation": "moe-mlp", "axes": RECORD, "hardware": "H100", "pass": "backward"}
    assert client.resolve(document).cohorts == client.resolve(RECORD_QUERY).cohorts
    digests = runs_of(starter)
    assert client.run(digests[0]).identity.run == digests[0]
    assert client.compare(*digests).verdicts[0].verdict == "SLOWER"
    assert client.show("operation", "moe").slug == "moe-mlp"
    assert client.runs(gpu="H100").runs
    assert client.records().records


def test_a_local_client_opens_a_database(starter: Catalog) -> None:
    with Client.local(starter.url.render_as_string(hide_password=False)) as client:
        assert client.resolve(RECORD_QUERY).match == "exact"
