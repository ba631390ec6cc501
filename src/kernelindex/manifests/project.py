"""SoftwareProject: an upstream library, author or vendor."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kernelindex.manifests.fields import Items, Maybe, Model, Text, Url


class ProjectHost(Model):
    """Where the project lives."""

    kind: Literal["github", "huggingface", "gitlab", "other"] = Field(description="Host.")
    id: Text = Field(description="The project's id at that host.")


class Package(Model):
    """A package that ships the project."""

    ecosystem: Text = Field(description="Package index, such as pypi.")
    name: Text = Field(description="Name there.")


class SoftwareProject(Model):
    """An upstream library, author or vendor; mutable, known by its slug."""

    name: Text = Field(description="Name as the project writes it.")
    kind: Maybe[Literal["library", "individual", "vendor"]] = Field(None, description="What it is.")
    repository: Maybe[Url] = Field(None, description="Source repository.")
    homepage: Maybe[Url] = Field(None, description="Home page.")
    host: Maybe[ProjectHost] = Field(None, description="Host and id there.")
    packages: Maybe[Items[Package]] = Field(None, description="Packages that ship it.")
