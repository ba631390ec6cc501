"""What is claimed: manifests, their canonical bytes, digests, references and schemas.

Importing this package loads no model; each kind's is imported when first needed.
"""

from kernelindex.manifests import canonical, expressions
from kernelindex.manifests.canonical import digest_of
from kernelindex.manifests.kinds import API_VERSIONS, KINDS, V1ALPHA1, V1ALPHA2, Kind, json_schema
from kernelindex.manifests.links import LinkWarning, link_warnings
from kernelindex.manifests.manifest import Manifest, load, parse
from kernelindex.manifests.references import Reference, references

__all__ = [
    "API_VERSIONS",
    "KINDS",
    "V1ALPHA1",
    "V1ALPHA2",
    "Kind",
    "LinkWarning",
    "Manifest",
    "Reference",
    "canonical",
    "digest_of",
    "expressions",
    "json_schema",
    "link_warnings",
    "load",
    "parse",
    "references",
]
