"""What is claimed: manifests, their canonical bytes, digests, references and schemas."""

from kernelindex.manifests import canonical
from kernelindex.manifests.canonical import digest_of
from kernelindex.manifests.manifest import Manifest, load, parse
from kernelindex.manifests.references import Reference, references

__all__ = ["Manifest", "Reference", "canonical", "digest_of", "load", "parse", "references"]
