"""ImplementationRevision: one immutable callable of one project revision."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kernelindex.manifests.fields import (
    Commit,
    Count,
    Digest,
    Items,
    Maybe,
    Model,
    Text,
    Text100,
    Text200,
    Text500,
    Text1000,
    TextSet,
    Token,
    TokenSet,
    Url,
)
from kernelindex.manifests.passes import PassSet


class ProjectRevision(Model):
    """The project's state that the callable comes from."""

    repository: Maybe[Url] = Field(None, description="Source repository.")
    commit: Maybe[Commit] = Field(None, description="Commit, 40 hex digits.")
    version: Maybe[Text100] = Field(None, description="Released version or submission name.")
    tree_digest: Maybe[Digest] = Field(None, description="Digest of the source tree.")


class OperationRef(Model):
    """The operation implemented."""

    spec_digest: Digest = Field(description="Digest of the OperationSpec.")


class Callable(Model):
    """What is called."""

    language: Token = Field(description="Language it is written in; unknown where not stated.")
    path: Maybe[Text500] = Field(None, description="File in the project.")
    symbol: Maybe[Text200] = Field(None, description="Name in that file.")
    interface: Maybe[Text] = Field(None, description="Calling convention, such as pytorch.")


class Support(Model):
    """Where the callable works, as claimed."""

    hardware_architectures: TokenSet = Field(description="Architectures.")
    products_tested: Maybe[TextSet] = Field(None, description="Products it ran on.")
    axes: Maybe[TextSet] = Field(None, description="Conditions on axes, in words.")
    dtypes: TokenSet = Field(description="Element types.")
    layouts: Maybe[TextSet] = Field(None, description="Memory layouts.")


class Source(Model):
    """The callable's own source file."""

    content_digest: Digest = Field(description="SHA-256 of the file.")
    file_name: Maybe[Text] = Field(None, description="Name of the file.")
    size_bytes: Maybe[Count] = Field(None, description="Size of the file.")


class Install(Model):
    """How it gets onto a machine."""

    kind: Literal["git", "pip", "package", "container", "source"] = Field(description="Way.")
    repository: Maybe[Url] = Field(None, description="Repository to install from.")
    commit: Maybe[Commit] = Field(None, description="Commit to install.")
    package: Maybe[Text] = Field(None, description="Package to install.")
    version: Maybe[Text] = Field(None, description="Version to install.")
    command: Maybe[Text1000] = Field(None, description="Command that installs it.")


class BuildVariant(Model):
    """One way to build or install."""

    name: Text = Field(description="Name of the variant.")
    install: Install = Field(description="How it is installed.")
    requirements: Maybe[dict[Token, Text]] = Field(None, description="Version ranges by package.")


class LicenceEvidence(Model):
    """Where a licence was read."""

    path: Text = Field(description="File in the project.")
    digest: Maybe[Digest] = Field(None, description="SHA-256 of that file.")


class Licensing(Model):
    """What the project declares, and what we conclude."""

    declared: Maybe[Text] = Field(None, description="Licence the project names.")
    concluded: Maybe[Text] = Field(None, description="Licence after review.")
    evidence: Maybe[LicenceEvidence] = Field(None, description="Where it was read.")


class ImplementationRevision(Model):
    """One immutable callable of one project revision."""

    project_revision: ProjectRevision = Field(description="The project's state.")
    operation: OperationRef = Field(description="The operation implemented.")
    callable: Callable = Field(description="What is called.")
    support: Support = Field(description="Where it works, as claimed.")
    source: Maybe[Source] = Field(None, description="The callable's own source file.")
    build_variants: Maybe[Items[BuildVariant]] = Field(None, description="Ways to install it.")
    licensing: Licensing = Field(description="Licence, declared and concluded.")


class SupportV2(Support):
    """Where the callable works, the passes included."""

    passes: Maybe[PassSet] = Field(None, description="Passes it implements.")


class Dependency(Model):
    """A package that the callable needs."""

    name: Text200 = Field(description="Package.")
    version: Maybe[Text100] = Field(None, description="Version or range.")
    concluded: Maybe[Text] = Field(None, description="Its licence after review.")


class LicensingV2(Licensing):
    """Licence of the callable and of what it needs."""

    dependencies: Maybe[Items[Dependency]] = Field(None, description="Packages it needs.")


class CallableV2(Callable):
    """What is called, and what prepares static tensors before."""

    setup: Maybe[Text200] = Field(
        None, description="Function that prepares static tensors once, timed apart."
    )


class ImplementationRevisionV2(ImplementationRevision):
    """One immutable callable of one project revision, with passes and dependencies."""

    callable: CallableV2 = Field(description="What is called.")
    support: SupportV2 = Field(description="Where it works, as claimed.")
    licensing: LicensingV2 = Field(description="Licence, its own and of what it needs.")
