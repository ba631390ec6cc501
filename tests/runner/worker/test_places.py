import os
from pathlib import Path

from kernelindex.runner.worker.places import Places, environment, python_path


def test_a_place_keeps_its_caches_only(tmp_path) -> None:
    places = Places(tmp_path)
    place = places.of("point-1/candidate é")
    for name in ("cache/triton/kernel", "home/x", "out/y", "kernelindex.py"):
        (place.root / name).write_text("x")
    (place.root / "link").symlink_to("/etc")
    again = places.of("point-1/candidate é")

    assert again.root == place.root
    found = sorted(str(p.relative_to(place.root)) for p in place.root.rglob("*") if p.is_file())
    assert found == ["cache/triton/kernel"]
    assert sorted(p.name for p in place.root.iterdir()) == ["cache", "home", "out", "tmp"]
    places.close()
    assert not places.root.exists()


def test_two_candidates_never_share_a_place(tmp_path) -> None:
    places = Places(tmp_path)

    assert places.of("a/b").root != places.of("a-b").root


def test_the_environment_is_an_allow_list(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "s")
    monkeypatch.setenv("LD_PRELOAD", "/x.so")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    monkeypatch.setenv("TRITON_CACHE_DIR", "/shared")
    place = Places(tmp_path).of("x")
    found = environment(place)

    assert "SECRET_TOKEN" not in found
    assert "LD_PRELOAD" not in found
    assert found["CUDA_VISIBLE_DEVICES"] == "3"
    assert found["TRITON_CACHE_DIR"] == str(place.root / "cache" / "triton")


def test_our_source_comes_first_on_the_path(monkeypatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["/a/b", "relative"]))
    first, second, third = python_path().split(os.pathsep)

    assert first.endswith("src")
    assert second == "/a/b"
    assert Path(third).is_absolute()
