import json
import os
import shutil
from pathlib import Path

from kernelindex.runner.worker.places import Places, environment, folder_name, python_path


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


def test_links_and_pipes_in_a_cache_are_not_kept(tmp_path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("not the candidate's")
    places = Places(tmp_path, tmp_path / "kept")
    cache = places.of("one").root / "cache"
    (cache / "triton" / "compiled").write_text("code")
    (cache / "triton" / "link").symlink_to(secret)
    (cache / "away").symlink_to(tmp_path)
    os.mkfifo(cache / "pipe")
    places.close()

    kept = tmp_path / "kept" / folder_name("one")
    assert {one.name for one in kept.rglob("*") if one.is_file()} == {"compiled"}
    assert not (kept / "away").exists()
    again = Places(tmp_path, tmp_path / "kept").of("one").root / "cache" / "triton"
    assert [one.name for one in again.iterdir()] == ["compiled"]


def test_a_cache_that_became_a_link_is_made_anew(tmp_path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    places = Places(tmp_path)
    root = places.of("one").root
    shutil.rmtree(root / "cache")
    (root / "cache").symlink_to(elsewhere)
    places.of("one")

    assert not (root / "cache").is_symlink()
    assert list(elsewhere.iterdir()) == []


def test_folders_without_rights_are_removed_all_the_same(tmp_path) -> None:
    places = Places(tmp_path)
    inner = places.of("one").root / "out" / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "file").write_text("x")
    for place in (inner, inner.parent, inner.parent.parent):
        place.chmod(0)

    assert list(places.of("one").out.iterdir()) == []


def test_kept_code_is_found_in_another_folder(tmp_path) -> None:
    caches = tmp_path / "caches"
    first = Places(tmp_path, caches)
    place = first.of("a")
    kernel = place.root / "cache" / "triton" / "KEY"
    kernel.mkdir()
    (kernel / "k.cubin").write_bytes(b"code")
    (kernel / "__grp__k.json").write_text(f'{{"child_paths": {{"k.cubin": "{kernel}/k.cubin"}}}}')
    (kernel / "__grp__bad.json").write_text('{"child_paths": 3}')
    assert not place.compiled
    first.close()
    second = Places(tmp_path, caches)
    again = second.of("a")
    listing = json.loads((again.root / "cache/triton/KEY/__grp__k.json").read_text())
    found = Path(listing["child_paths"]["k.cubin"])
    assert found.read_bytes() == b"code"
    assert found.is_relative_to(second.root)
    assert again.compiled
    assert second.of("a").compiled  # the next generation too
    assert not second.of("b").compiled
    second.close()
