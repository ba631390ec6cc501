from __future__ import annotations

import copy
import pickle

import pytest

from kernelindex.manifests import V1ALPHA2, Manifest, load, parse
from tests.manifests import factories as make


def restored(manifest: Manifest) -> Manifest:
    return Manifest(
        api_version=manifest.api_version,
        kind=manifest.kind,
        digest=manifest.digest,
        document=manifest.document,
    )


def test_a_stored_manifest_has_models_again() -> None:
    manifest = parse(make.run())
    again = restored(manifest)
    assert again == manifest
    assert again.spec == manifest.spec
    assert again.spec.timing.latency_ns.median == 8120
    assert again.metadata.name == again.name == "a-thing"
    assert again.spec is again.spec


def test_models_follow_the_version() -> None:
    assert parse(make.protocol(V1ALPHA2, timedPass="full")).spec.timed_pass == "full"
    assert not hasattr(parse(make.protocol()).spec, "timed_pass")


def test_equality_is_digest_and_metadata() -> None:
    document = make.run()
    other = {**document, "metadata": {"name": "other"}}
    assert parse(document) == parse(copy.deepcopy(document))
    assert parse(document) != parse(other)
    assert len({parse(document), parse(other), parse(make.protocol())}) == 3
    assert parse(document) != "text"


def test_a_manifest_does_not_change() -> None:
    manifest = parse(make.run())
    with pytest.raises(AttributeError, match="does not change: digest"):
        manifest.digest = "sha256:0"
    with pytest.raises(AttributeError):
        manifest.more = 1  # type: ignore[attr-defined]


def test_it_is_shown_by_kind_name_and_digest() -> None:
    manifest = parse(make.run())
    assert repr(manifest) == f"<Manifest BenchmarkRun a-thing {manifest.digest}>"


def test_the_given_document_is_left_alone() -> None:
    document = make.implementation()
    before = copy.deepcopy(document)
    assert parse(document).document != before
    assert document == before


def test_it_survives_pickling() -> None:
    manifest = parse(make.run())
    assert pickle.loads(pickle.dumps(manifest)) == manifest


def test_bytes_and_text_give_one_manifest() -> None:
    text = '{"apiVersion":"kernelindex.dev/v1alpha1","kind":"SoftwareProject",'
    text += '"metadata":{"name":"a"},"spec":{"name":"Ä"}}'
    assert load(text) == load(text.encode())
