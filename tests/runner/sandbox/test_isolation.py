"""What an enclosed process can reach; each kind is tried for real where the machine allows it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kernelindex.runner.batch_files import digest
from kernelindex.runner.sandbox import FEATURES, Isolation, Limits, build_command, find_isolation
from kernelindex.runner.sandbox.enter import bubblewrap_command
from kernelindex.runner.sandbox.trying import candidates, try_isolation

LOOK = """
import json, os, sys
from pathlib import Path
found = {"pid": os.getpid(), "processes": len([p for p in os.listdir("/proc") if p.isdigit()])}
shared = Path(sys.argv[4])
for name, path in (("own", sys.argv[1]), ("other", sys.argv[2]), ("shared", shared.parent)):
    try:
        Path(path, shared.name if name == "shared" else "file").write_text("x")
        found[name] = True
    except OSError:
        found[name] = False
found["secret"] = Path(sys.argv[3], "secret").exists()
shown = Path(sys.argv[3], "shown")
found["shown"] = sorted(str(path.relative_to(shown)) for path in shown.rglob("*"))
try:
    (shown / "new").write_text("x")
except OSError:
    found["shown"].append("read-only")
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
found["capabilities"] = int(status["CapEff"], 16)
found["new_privileges"] = status["NoNewPrivs"].strip()
print(json.dumps(found))
"""


def shared(tmp_path: Path) -> Path:
    """A file that every process of the machine sees, of no other test beside this one."""
    return Path("/dev/shm", f"kernelindex-{digest(bytes(tmp_path))[-16:]}")


def usable(kind: str) -> Isolation:
    for one in candidates([kind]):
        if len(one.features) == 3 and try_isolation(one) == FEATURES:
            return one
    pytest.skip(f"this machine does not allow {kind} in full")


def enclosed(
    isolation: Isolation, tmp_path: Path, code: str = LOOK, **limits
) -> subprocess.CompletedProcess:
    for name in ("own", "other", "hidden", "hidden/shown", "hidden/shown/keys"):
        (tmp_path / name).mkdir(exist_ok=True)
    (tmp_path / "hidden" / "shown" / "module.py").write_text("")
    (tmp_path / "hidden" / "shown" / "keys" / "key.pem").write_text("key")
    (tmp_path / "hidden" / "secret").write_text("seed")
    paths = [*(str(tmp_path / name) for name in ("own", "other", "hidden")), str(shared(tmp_path))]
    command = build_command(
        isolation,
        [sys.executable, "-c", code, *paths],
        writable=[tmp_path / "own"],
        hidden=[tmp_path / "hidden" / "shown" / "keys", tmp_path / "hidden"],
        readable=[tmp_path / "hidden" / "shown"],
        limits=Limits(**limits),
    )
    source = str(Path(__file__).parents[3] / "src")
    return subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path / "own",
        env={"PYTHONPATH": source},
        timeout=60,
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bubblewrap", "namespaces"])
def test_only_its_own_folder_can_be_written_and_the_secret_is_gone(tmp_path, kind) -> None:
    done = enclosed(usable(kind), tmp_path)
    found = json.loads(done.stdout)

    assert (found["own"], found["other"], found["secret"]) == (True, False, False), done.stderr
    assert found["shown"] == ["keys", "module.py", "read-only"]
    assert found["processes"] <= 2
    assert found["pid"] <= 2
    # Of capabilities at most those that read files: never one that mounts or traces.
    assert found["capabilities"] & ~0b110 == 0
    assert (tmp_path / "own" / "file").read_text() == "x"
    assert not shared(tmp_path).exists()


@pytest.mark.slow
def test_limits_alone_cut_nothing_off_and_give_no_privileges(tmp_path) -> None:
    found = json.loads(enclosed(Isolation(kind="limits"), tmp_path).stdout)
    shared(tmp_path).unlink()

    assert found["shared"] is True
    assert found["other"] is True
    assert found["secret"] is True
    assert found["new_privileges"] == "1"
    assert found["capabilities"] & ~0b110 == 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bubblewrap", "namespaces", "limits"])
def test_a_file_cannot_grow_past_its_limit(tmp_path, kind) -> None:
    isolation = Isolation(kind="limits") if kind == "limits" else usable(kind)
    code = "open('big', 'wb').write(b'x' * 200_000)"
    done = enclosed(isolation, tmp_path, code, file_bytes=100_000)

    assert done.returncode != 0
    assert (tmp_path / "own" / "big").stat().st_size == 100_000


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["namespaces", "limits"])
def test_the_end_is_told_as_it_was(tmp_path, kind) -> None:
    isolation = Isolation(kind="limits") if kind == "limits" else usable(kind)

    assert enclosed(isolation, tmp_path, "raise SystemExit(7)").returncode == 7
    crashed = enclosed(isolation, tmp_path, "import ctypes; ctypes.string_at(0)")
    assert crashed.returncode == -11


@pytest.mark.slow
def test_the_network_is_cut_in_every_kind_that_says_so() -> None:
    for one in candidates():
        seen = try_isolation(one)
        if seen is not None:
            assert set(seen) <= set(one.features)
    best = find_isolation()
    assert try_isolation(best) == best.features


def test_kinds_can_be_restricted() -> None:
    assert [one.kind for one in candidates(["limits"])] == ["limits"]
    assert {one.kind for one in candidates(["namespaces"])} == {"namespaces"}


def test_bubblewrap_hides_before_it_shows() -> None:
    spec = {
        "isolation": {"program": "/usr/bin/bwrap"},
        "mounts": [["hide", "/batch"], ["write", "/scratch/a"]],
    }
    command = bubblewrap_command(spec, ["python3", "x.py"])

    assert command[0] == "/usr/bin/bwrap"
    assert command[-2:] == ["python3", "x.py"]
    assert command.index("/batch") < command.index("/scratch/a")
    assert "--unshare-net" in command


def test_facts_say_what_is_cut_off() -> None:
    facts = Isolation(kind="namespaces", features=("network",)).facts()

    assert facts["features"] == ["network"]
    assert facts["text"] == "namespaces (network cut off)"
    assert "none of network" in Isolation(kind="limits").text


def test_a_trusted_process_keeps_its_limits_only() -> None:
    command = build_command(
        Isolation(kind="bubblewrap", features=FEATURES, program="/usr/bin/bwrap"),
        ["true"],
        writable=[],
        trusted=True,
    )
    spec = json.loads(command[command.index("true") - 1])

    assert spec["isolation"]["kind"] == "limits"
    assert spec["drop"] is False
