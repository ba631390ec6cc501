"""Verifying: a sound bundle holds, and every way to change one is found and named."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from kernelindex.evidence import archive, bundle, dsse
from kernelindex.evidence.verify import open_bundle, verify
from kernelindex.manifests import canonical
from tests.evidence.factories import (
    ALICE,
    BOB,
    Batch,
    dump,
    make_journal,
    make_protocol,
    resign,
    seal_aborted,
    sha256,
)

TRAINING = ("forward", "backward", "full")


@cache
def sound() -> bytes:
    return Batch(passes=TRAINING).seal().data


PLAN_DIGEST = sha256(archive.unpack(sound())[bundle.PLAN])


def faults(data: bytes, keys: Any = (ALICE.public,)) -> list[str]:
    return [one.code for one in verify(data, keys).faults]


def test_a_sound_bundle_holds_and_says_what_is_in_it() -> None:
    report, contents = open_bundle(sound(), [BOB.public, ALICE.public])
    assert report.ok
    assert report.key == ALICE.public
    assert report.digest == sha256(sound())
    assert len(report.runs) == 6
    assert all(run.correct and run.lacks == () for run in report.runs)
    assert sorted(run.timed_pass for run in report.runs) == sorted(TRAINING * 2)
    assert contents is not None
    document = json.loads(json.dumps(report.to_dict()))
    assert document["batch"]["number"] == 1
    assert document["files"] == len(archive.unpack(sound())) - 1


def test_the_calibration_is_judged_by_its_numbers() -> None:
    assert verify(sound(), None).calibration_problems == ()
    outside = verify(Batch(within_limits=False).seal().data, None)
    assert outside.ok
    assert outside.calibration_problems == ("twice_the_spin 1.926, wanted 1.96 to 2.04",)
    lying = verify(Batch(within_limits=True, checks={"known_bytes": 1.5}).seal().data, None)
    assert lying.ok
    assert lying.calibration_problems == ("known_bytes 1.5, wanted 0.4 to 1.02",)
    modest = verify(Batch(within_limits=False, checks={"a_a": 1.0}).seal().data, None)
    assert modest.calibration_problems == ("its runner says that it was outside its limits",)


def test_equal_batches_give_equal_bundles() -> None:
    assert Batch(passes=TRAINING).seal() == Batch(passes=TRAINING).seal()


def test_a_stranger_s_key_proves_nothing() -> None:
    assert faults(sound(), [BOB.public]) == ["signature"]
    assert faults(sound(), []) == ["signature"]
    assert verify(sound(), [BOB.public]).to_dict()["runner"] is None


def test_by_its_own_key_a_bundle_proves_only_that_it_is_whole() -> None:
    assert verify(sound(), None).key == ALICE.public


def test_every_sampled_byte_of_a_bundle_counts() -> None:
    """Each 397th byte of the file, so of every kind of file and header in it."""
    data = sound()
    for at in range(0, len(data), 397):
        assert faults(bytes((*data[:at], data[at] ^ 0x20, *data[at + 1 :]))), f"byte {at}"


@pytest.mark.parametrize("name", sorted(archive.unpack(sound())))
def test_a_byte_changed_in_any_file_is_found_though_the_archive_is_mended(name: str) -> None:
    files = archive.unpack(sound())
    data = files[name]
    found = set()
    for at in {0, len(data) // 2, len(data) - 1}:
        changed = bytes((*data[:at], data[at] ^ 1, *data[at + 1 :]))
        found |= set(faults(archive.pack({**files, name: changed})))
    of_statement = {"envelope", "signature", "statement"}
    assert found
    assert found <= (of_statement if name == bundle.STATEMENT else {"changed_file"})


def test_a_file_left_out_added_or_renamed_is_found() -> None:
    files = archive.unpack(sound())
    assert faults(archive.pack({**files, "more.txt": b""})) == ["unnamed_file"]
    without = {name: data for name, data in files.items() if name != bundle.JOURNAL}
    assert faults(archive.pack(without)) == ["missing_file"]
    renamed = {**without, "journal.json": files[bundle.JOURNAL]}
    assert faults(archive.pack(renamed)) == ["unnamed_file", "missing_file"]
    assert faults(archive.pack({"a": b""})) == ["envelope"]
    assert faults(b"no archive") == ["archive"]


def test_an_envelope_has_one_form_and_one_signature() -> None:
    files = archive.unpack(sound())
    envelope = json.loads(files[bundle.STATEMENT])
    spaced = json.dumps(envelope, indent=1).encode()
    assert faults(archive.pack({**files, bundle.STATEMENT: spaced})) == ["envelope"]
    twice = {**envelope, "signatures": envelope["signatures"] * 2}
    data = archive.pack({**files, bundle.STATEMENT: canonical.dumps(twice)})
    assert faults(data) == ["envelope"]
    renamed = {**envelope, "signatures": [{**envelope["signatures"][0], "keyid": "other"}]}
    data = archive.pack({**files, bundle.STATEMENT: canonical.dumps(renamed)})
    assert faults(data) == ["envelope"]


def test_one_who_signs_for_another_is_found() -> None:
    files = archive.unpack(sound())
    payload = dsse.parse_envelope(files[bundle.STATEMENT]).payload
    forged = dsse.seal(payload, BOB).to_json()
    assert faults(archive.pack({**files, bundle.STATEMENT: forged}), [BOB.public]) == ["signature"]


def resealed(change: Any) -> bytes:
    """The sound bundle changed in one file and signed again with its digests made right."""

    def apply(document: dict[str, Any], files: dict[str, bytes]) -> None:
        change(document, files)
        for subject in document["subject"]:
            subject["digest"]["sha256"] = sha256(files[subject["name"]])[7:]

    return resign(sound(), ALICE, apply)


def edit(name: str, **changes: Any) -> Any:
    def change(_document: dict[str, Any], files: dict[str, bytes]) -> None:
        files[name] = dump({**json.loads(files[name]), **changes})

    return change


def put(name: str, data: bytes) -> Any:
    return lambda _document, files: files.update({name: data})


def state(part: str, name: str, value: Any) -> Any:
    return lambda document, _files: document["predicate"][part].update({name: value})


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (edit(bundle.PLAN, number=9), "plan"),
        (put(bundle.JOURNAL, make_journal("started", "ended")[0]), "journal"),
        (put(bundle.JOURNAL, b"nothing\n"), "journal"),
        (put(bundle.JOURNAL, b""), "journal"),
        (state("batch", "journalHead", sha256(b"x")), "journal"),
        (state("batch", "seed", "another"), "seed"),
        (edit(bundle.SEED, seed="another"), "seed"),
        (edit(bundle.OUTCOME, status="cut_short"), "outcome"),
        (edit(bundle.CALIBRATION, withinLimits=False), "calibration"),
        (put(bundle.CALIBRATION, b"[]"), "calibration"),
        (state("calibration", "withinLimits", False), "calibration"),
        (state("runner", "owner", "eve"), "identity"),
        (state("runner", "host", "other"), "identity"),
        (state("runner", "device", "other"), "identity"),
        (state("batch", "seedCommitment", sha256(b"x")), "seed"),
    ],
)
def test_a_runner_cannot_contradict_itself(change: Any, code: str) -> None:
    found = faults(resealed(change))
    assert code in found


def test_manifests_are_digested_again_and_name_only_what_is_there() -> None:
    def swap(document: dict[str, Any], files: dict[str, bytes]) -> None:
        name = bundle.manifest_name(make_protocol("forward").digest)
        files[name] = canonical.dumps(make_protocol("backward").document)

    assert set(faults(resealed(swap))) == {"manifest", "open_reference"}

    def lose(document: dict[str, Any], files: dict[str, bytes]) -> None:
        name = bundle.manifest_name(make_protocol("forward").digest)
        del files[name]
        document["subject"] = [one for one in document["subject"] if one["name"] != name]

    assert set(faults(resealed(lose))) == {"open_reference"}

    def break_one(document: dict[str, Any], files: dict[str, bytes]) -> None:
        files[bundle.manifest_name(make_protocol("forward").digest)] = b'{"kind":"Other"}'

    assert "manifest" in faults(resealed(break_one))

    def unname(document: dict[str, Any], files: dict[str, bytes]) -> None:
        for subject in document["subject"]:
            subject["digest"].pop("kernelindexManifest", None)

    assert set(faults(resealed(unname))) == {"manifest"}


@pytest.mark.parametrize(
    ("run", "code"),
    [
        ({"runner": {"id": "alice-runner", "keyDigest": BOB.public.digest}}, "identity"),
        ({"batch": {"id": "b", "number": 7}}, "batch"),
        ({"batch": {"id": "b", "number": 1, "seed": "other"}}, "batch"),
        ({"timing": {"primaryStatistic": "median", "latencyNs": {"median": 9}}}, "samples"),
        ({"samples": {"uri": "u", "digest": sha256(b"elsewhere")}}, "samples"),
        ({"samples": {"uri": "u", "digest": PLAN_DIGEST}}, "samples"),
        ({"batch": {"id": "b", "calibration": {"uri": "u", "digest": PLAN_DIGEST}}}, "batch"),
    ],
)
def test_runs_speak_of_this_batch_and_of_their_samples(run: dict[str, Any], code: str) -> None:
    assert code in faults(Batch(run=run).seal().data)


@pytest.mark.parametrize(
    ("batch", "words"),
    [
        (Batch(passes=("backward",)), "the forward pass of the same revision"),
        (Batch(passes=("forward", "backward")), "the full pass of the same revision"),
        (Batch(run={"telemetry": {}}), "readings of the device's clocks"),
        (Batch(run={"executed": []}), "a trace of what ran"),
        (Batch(generations=2), "3 process generations of 8 rounds (it has 2 of 2)"),
        (Batch(run={"correctness": {"comparator": "c"}}), "a timed call that was checked"),
        (Batch(protocol={"harness": {"name": "other"}}), "the controlled protocol"),
    ],
)
def test_what_is_missing_is_no_fault_and_is_said(batch: Batch, words: str) -> None:
    report = verify(batch.seal().data, [ALICE.public])
    assert report.ok
    lacking = [text for run in report.runs for text in run.lacks]
    assert any(words in text for text in lacking), lacking


def test_a_processor_needs_no_trace_and_no_clocks() -> None:
    hardware = {"vendor": "amd", "product": "EPYC 9354", "architecture": "x86_64"}
    batch = Batch(run={"telemetry": {}, "executed": []}, hardware=hardware)
    assert [run.lacks for run in verify(batch.seal().data, None).runs] == [(), ()]


@pytest.mark.parametrize(
    ("passes", "outputs", "correct"),
    [
        (("forward",), {"y": {"passed": True}}, True),
        (("forward",), {}, False),
        (("forward",), {"y": {"passed": False}}, False),
        (("forward",), {"y": {"passed": True, "finite": False}}, False),
        (("full",), {"y": {"passed": True}}, False),
        (("full",), {"y": {"passed": True}, "grad_x": {"passed": True}}, True),
        (("full",), {"y": {"passed": True}, "grad_x": {"passed": False}}, False),
    ],
)
def test_correct_means_every_output_and_where_timed_every_gradient(
    passes: tuple[str, ...], outputs: dict[str, Any], correct: bool
) -> None:
    stated = {"comparator": "c", "outputs": outputs, "timedCallsChecked": 1}
    report = verify(Batch(passes=passes, run={"correctness": stated}).seal().data, None)
    assert report.ok
    assert {run.correct for run in report.runs} == {correct}


def test_failed_and_aborted_measurements_are_evidence_too() -> None:
    failed = Batch(run={"status": "incorrect_numerical"}).seal()
    report = verify(failed.data, [ALICE.public])
    assert report.ok
    assert {(run.status, run.correct) for run in report.runs} == {("incorrect_numerical", False)}
    aborted = verify(seal_aborted(Batch()).data, [ALICE.public])
    assert aborted.ok
    assert aborted.statement is not None
    assert (aborted.statement.batch.outcome, aborted.runs) == ("aborted", ())
