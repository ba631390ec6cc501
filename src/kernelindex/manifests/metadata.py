"""Editorial metadata: never part of a digest, the same for every kind."""

from __future__ import annotations

from pydantic import Field

from kernelindex.manifests.fields import (
    Items,
    Maybe,
    Model,
    Name,
    Text,
    Text200,
    Text2000,
    Token,
    Url,
)


class Author(Model):
    """Who made the thing described."""

    name: Maybe[Text] = Field(None, description="Name as the author writes it.")
    github: Maybe[Text] = Field(None, description="GitHub account.")


class SourceRef(Model):
    """Where the thing described was found."""

    url: Url = Field(description="Address of the page or file.")


class Metadata(Model):
    """What people call the object and where it comes from."""

    name: Name = Field(description="Short name; becomes the slug.")
    title: Maybe[Text200] = Field(None, description="Name for people.")
    description: Maybe[Text2000] = Field(None, description="What it is, in a few sentences.")
    labels: Maybe[dict[Token, Text200]] = Field(None, description="Free key and value texts.")
    authors: Maybe[Items[Author]] = Field(None, description="Who made it.")
    source_refs: Maybe[Items[SourceRef]] = Field(None, description="Where it was found.")
