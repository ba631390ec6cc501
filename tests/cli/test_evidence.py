"""``ki evidence``: from a new key to a verified run, and what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kernelindex.evidence import archive, bundle, ledger
from kernelindex.evidence.keystore import load_runner
from tests.cli.factories import Terminal
from tests.evidence.factories import ALICE, Batch, dump, sha256


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KI_RUNNERS", str(tmp_path / "runners"))
    monkeypatch.setenv("KI_DB", f"sqlite:///{tmp_path / 'ki.db'}")
    monkeypatch.setenv("KI_ACTOR", "op")
    return tmp_path


def new_key(terminal: Terminal) -> str:
    return str(
        terminal.ki("evidence", "keys", "new", "box", "--owner", "ada", "--host", "h1").out.strip()
    )


def write_batches(folder: Path, count: int = 2) -> list[Path]:
    """Batches of the runner ``box``, closed in its ledger."""
    runner, previous, made = load_runner("box"), None, []
    identity = {"name": "box", "owner": "ada", "host": "h1"}
    for number in range(1, count + 1):
        batch = Batch(runner.signer(), number, previous, {"fast": 1e5}, identity=identity)
        ledger.plan(runner.ledger, number, sha256(dump({"number": number})))
        sealed = batch.seal()
        ledger.close(runner.ledger, number, sealed.record_digest, "complete")
        previous = sealed.record_digest
        made.append(folder / "out" / bundle.bundle_name("box", number))
        bundle.write(made[-1], sealed)
    return made


def test_a_key_is_made_and_only_its_public_half_is_printed(
    terminal: Terminal, folder: Path
) -> None:
    key = new_key(terminal)
    assert key.startswith("ed25519:")
    secret = (folder / "runners" / "box" / "key.pem").read_text()
    listed = terminal.ki("evidence", "keys", "list", "--json")
    (runner,) = listed.data["runners"]
    assert (runner["name"], runner["owner"], runner["publicKey"]) == ("box", "ada", key)
    assert secret.splitlines()[1] not in listed.out
    again = terminal.ki("evidence", "keys", "new", "box", "--owner", "eve")
    assert (again.status, "not overwritten" in again.err) == (1, True)
    assert "on this machine" in terminal.ki("evidence", "keys", "list").out


def test_verifying_needs_a_bundle_and_a_public_key(terminal: Terminal, folder: Path) -> None:
    key = new_key(terminal)
    first, _ = write_batches(folder)
    good = terminal.ki("evidence", "verify", str(first), "--key", key)
    assert good.status == 0
    assert "holds. Batch 1 of box (ada, h1), complete" in good.out
    assert "1 runs, 1 correct and complete; calibration inside" in good.out
    file = folder / "runners" / "box" / "public.key"
    assert terminal.ki("evidence", "verify", str(first), "--key", str(file)).status == 0
    assert terminal.ki("evidence", "verify", str(first)).status == 0
    other = terminal.ki("evidence", "verify", str(first), "--key", ALICE.public.text, "--json")
    assert (other.status, other.data["ok"]) == (1, False)
    assert other.data["bundles"][0]["faults"][0]["code"] == "signature"
    junk = terminal.ki("evidence", "verify", str(first), "--key", "nonsense")
    assert (junk.status, "is no public key" in junk.err) == (1, True)


def test_a_tampered_bundle_and_a_gap_are_said(terminal: Terminal, folder: Path) -> None:
    new_key(terminal)
    first, second = write_batches(folder)
    whole = terminal.ki("evidence", "verify", str(folder / "out"), "--chain", "--last", "2")
    assert (whole.status, "chain: 2 batches without a gap" in whole.out) == (0, True)
    short = terminal.ki("evidence", "verify", str(second), "--chain", "--json")
    assert short.status == 1
    assert short.data["chain"] == [
        {"code": "chain_gap", "where": "chain", "text": "batch 1 is not there"}
    ]
    files = archive.unpack(first.read_bytes())
    first.write_bytes(archive.pack({**files, "outcome.json": b"{}"}))
    bad = terminal.ki("evidence", "verify", str(first))
    assert bad.status == 1
    assert "NOT evidence" in bad.out
    assert "changed_file: outcome.json" in bad.out
    empty = folder / "empty"
    empty.mkdir()
    assert "holds no file" in terminal.ki("evidence", "verify", str(empty)).err


def test_show_prints_what_was_signed(terminal: Terminal, folder: Path) -> None:
    new_key(terminal)
    first, _ = write_batches(folder)
    shown = terminal.ki("evidence", "show", str(first))
    assert shown.status == 0
    assert "forward: passed" in shown.out
    assert "it is the first" in shown.out
    first.write_bytes(b"junk")
    assert terminal.ki("evidence", "show", str(first)).status == 1
    assert terminal.ki("evidence", "show", str(first), "--json").data["ok"] is False


def test_a_planned_batch_that_never_ran_is_declared(terminal: Terminal, folder: Path) -> None:
    new_key(terminal)
    write_batches(folder, 1)
    runner = load_runner("box")
    ledger.plan(runner.ledger, 2, sha256(b"plan"))
    out = str(folder / "out")
    done = terminal.ki("evidence", "abort", "2", "--out", out, "--json")
    assert done.status == 0
    assert ledger.previous_digest(runner.ledger, 3) == done.data["record"]
    assert terminal.ki("evidence", "verify", out, "--chain", "--last", "2").status == 0
    ledger.plan(runner.ledger, 3, sha256(b"another plan"))
    usual = terminal.ki("evidence", "abort", "3", "--json").data["path"]
    assert usual == str(folder / "runners" / "box" / "bundles" / "box-00003.evidence.zip")
    both = (out, str(Path(usual).parent), "--chain", "--last", "3")
    assert terminal.ki("evidence", "verify", *both).status == 0
    again = terminal.ki("evidence", "abort", "2")
    assert (again.status, "not open" in again.err) == (1, True)


def test_approving_raises_what_was_imported_and_revoking_lowers_it(
    terminal: Terminal, folder: Path
) -> None:
    key = new_key(terminal)
    write_batches(folder, 1)
    report = terminal.ki("import", "evidence", str(folder / "out"), "--json").data
    assert report["problems"] == [
        "1 run is reproducible: lacking a signature by a runner key this index approved"
    ]
    said = ("--name", "box", "--owner", "ada", "--host", "h1", "--reason", "ours")
    assert terminal.ki("evidence", "keys", "approve", key, *said).status == 0
    assert terminal.ki("runs", "--json").data["runs"][0]["evidence"] == "verified"
    approvals = terminal.ki("evidence", "keys", "list", "--json").data["approvals"]
    (approval,) = [one for one in approvals if one["public_key"] == key]
    assert (approval["approved"], approval["actor"]) == (True, "op")
    assert terminal.ki("evidence", "keys", "revoke", key, "--reason", "lost").status == 0
    assert terminal.ki("runs", "--json").data["runs"][0]["evidence"] == "reproducible"
    unknown = terminal.ki("evidence", "keys", "revoke", ALICE.public.text, "--reason", "x")
    assert (unknown.status, "was approved here" in unknown.err) == (1, True)


def test_a_measured_batch_is_signed_and_its_number_closed(terminal: Terminal, folder: Path) -> None:
    from tests.runner.recording.factories import make_batch, make_plan

    key = new_key(terminal)
    runner = load_runner("box")
    measured = make_batch(folder / "batch", make_plan(number=1))
    unplanned = terminal.ki("evidence", "sign", str(measured), "--out", str(folder / "out"))
    assert unplanned.status == 1
    ledger.plan(runner.ledger, 1, sha256((measured / "plan.json").read_bytes()))
    done = terminal.ki("evidence", "sign", str(measured), "--out", str(folder / "out"), "--json")
    assert done.status == 0
    assert ledger.previous_digest(runner.ledger, 2) == done.data["record"]
    checked = terminal.ki("evidence", "verify", done.data["path"], "--key", key, "--json")
    assert checked.data["ok"] is True
    assert all(run["lacks"] == [] for run in checked.data["bundles"][0]["runs"])


def test_show_of_a_folder_is_a_usage_error(terminal: Terminal, tmp_path: Path) -> None:
    done = terminal.ki("evidence", "show", str(tmp_path))
    assert done.status == 2
    assert "is a directory" in done.err


def test_what_is_signed_lies_beside_the_runner_s_other_bundles(
    terminal: Terminal, folder: Path
) -> None:
    from tests.runner.recording.factories import make_batch, make_plan

    new_key(terminal)
    measured = make_batch(folder / "batch", make_plan(number=1))
    runner = load_runner("box")
    ledger.plan(runner.ledger, 1, sha256((measured / "plan.json").read_bytes()))
    done = terminal.ki("evidence", "sign", str(measured), "--json")
    path = runner.folder / "bundles" / "box-00001.evidence.zip"
    assert done.data["path"] == str(path)
    kept = path.read_bytes()
    other = folder / "out" / path.name
    other.parent.mkdir()
    other.write_bytes(b"another")
    again = terminal.ki("evidence", "sign", str(measured), "--out", str(other.parent))
    assert (again.status, "[evidence.bundle_exists]" in again.err) == (1, True)
    assert (other.read_bytes(), path.read_bytes()) == (b"another", kept)


def test_of_several_runners_the_usual_one_is_meant(terminal: Terminal, folder: Path) -> None:
    new_key(terminal)
    terminal.ki("evidence", "keys", "new", "box2", "--owner", "ada", "--host", "h1")
    asked = ("bench", "plan", "rmsnorm", "tokens=512", "hidden=1024", "--device", "cpu")
    asked = (*asked, "--out", str(folder / "plan.json"), "--json")
    plain = terminal.ki(*asked)
    message = plain.data["error"]["message"]
    assert "there are box, box2. Name one: --runner NAME, or make one: ki evidence" in message
    terminal.ki("evidence", "keys", "new", "local", "--owner", "ada", "--host", "h1")
    assert terminal.ki(*asked).data["runner"] == "local"
    assert terminal.ki(*asked, "--runner", "box2").data["runner"] == "box2"


def test_a_tampered_bundle_among_good_ones_fails_the_import_and_the_good_ones_are_taken(
    terminal: Terminal, folder: Path
) -> None:
    new_key(terminal)
    first, second = write_batches(folder)
    assert terminal.ki("import", "evidence", str(second)).status == 0
    files = archive.unpack(first.read_bytes())
    first.write_bytes(archive.pack({**files, "facts.json": b"{}"}))
    done = terminal.ki("import", "evidence", str(folder / "out"), "--json")
    report = done.data
    assert done.status == 1
    assert report["skipped"] == {"evidence.changed_file": 1}
    assert (report["read"], report["existing"]) == (3, 2)
    assert len(terminal.ki("runs", "--json").data["runs"]) == 1


def test_a_pipe_in_a_bundle_s_place_is_not_waited_for(terminal: Terminal, folder: Path) -> None:
    new_key(terminal)
    first, _ = write_batches(folder)
    link = folder / "link.evidence.zip"
    link.symlink_to(first)
    assert terminal.ki("evidence", "verify", str(link)).status == 0
    pipe = folder / "out" / "box-00003.evidence.zip"
    os.mkfifo(pipe)
    for asked in (("verify", str(folder / "out")), ("verify", str(pipe)), ("show", str(pipe))):
        done = terminal.ki("evidence", *asked)
        assert (done.status, f"{pipe}: not a regular file" in done.err) == (1, True)
    done = terminal.ki("import", "evidence", str(pipe))
    assert (done.status, "no regular file" in done.err) == (1, True)
    assert terminal.ki("import", "evidence", str(folder / "out")).status == 0


def test_swapped_names_of_files_are_noted_and_no_fault(terminal: Terminal, folder: Path) -> None:
    new_key(terminal)
    first, second = write_batches(folder)
    assert "note" not in terminal.ki("evidence", "verify", str(first), str(second)).out
    aside = first.rename(folder / "aside")
    second.rename(first)
    aside.rename(second)
    said = terminal.ki("evidence", "verify", str(first.parent))
    assert said.status == 0
    assert (
        f"note: the file is called {first.name}, and what is signed in it is the batch of"
        f" {second.name}" in said.out
    )
    told = terminal.ki("evidence", "verify", str(first.parent), "--json").data["bundles"]
    assert [len(one["notes"]) for one in told] == [1, 1]
    renamed = first.rename(folder / "mine.zip")
    assert "note" not in terminal.ki("evidence", "verify", str(renamed)).out


def test_a_fault_of_the_archive_names_the_file_and_a_statement_left_out_is_said(
    terminal: Terminal, folder: Path
) -> None:
    new_key(terminal)
    first, second = write_batches(folder)
    files = archive.unpack(first.read_bytes())
    del files[bundle.STATEMENT]
    first.write_bytes(archive.pack(files))
    second.write_bytes(second.read_bytes()[:-7])
    said = terminal.ki("evidence", "verify", str(first), str(second))
    assert said.status == 1
    assert f"    envelope: {bundle.STATEMENT}: it is not in the bundle\n" in said.out
    assert f"    archive: {second.name}: not a bundle of evidence: " in said.out
    shown = terminal.ki("evidence", "show", str(second))
    assert shown.out.startswith(f"archive: {second.name}: ")
