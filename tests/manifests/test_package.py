from __future__ import annotations

import subprocess
import sys

import kernelindex.manifests as package


def test_the_exported_names() -> None:
    assert sorted(package.__all__) == [
        "API_VERSIONS",
        "KINDS",
        "Kind",
        "LinkWarning",
        "Manifest",
        "Reference",
        "V1ALPHA1",
        "V1ALPHA2",
        "canonical",
        "digest_of",
        "expressions",
        "json_schema",
        "link_warnings",
        "load",
        "parse",
        "references",
    ]
    assert all(hasattr(package, name) for name in package.__all__)


def test_importing_loads_no_model() -> None:
    code = "import kernelindex.manifests, sys; print(' '.join(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"pydantic", "yaml", "kernelindex.manifests.fields"} & set(loaded)


def test_each_kind_imports_only_its_own_models() -> None:
    code = (
        "from kernelindex.manifests import V1ALPHA1, kinds; import sys\n"
        "kinds.spec_model('SoftwareProject', V1ALPHA1); print(' '.join(sys.modules))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "kernelindex.manifests.project" in loaded
    assert not {"kernelindex.manifests.run", "kernelindex.manifests.serving"} & set(loaded)
