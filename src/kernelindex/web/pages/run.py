"""The dossier of a run: a datasheet whose first screen does not mislead."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import orjson

from kernelindex.errors import NotFoundError
from kernelindex.ids import is_digest, parse_prefix
from kernelindex.resolve.columns import Stored, show_with_units
from kernelindex.resolve.lookup import locate
from kernelindex.resolve.numbers import scale_for
from kernelindex.resolve.recipes import Usage, rerun_line, usage_of
from kernelindex.resolve.show import build_dossier
from kernelindex.web import paths
from kernelindex.web.charts.figure import Figure, samples_figure
from kernelindex.web.citation import bibtex
from kernelindex.web.context import Page, told
from kernelindex.web.facts import (
    Executed,
    Fact,
    Judged,
    Tensor,
    executed,
    facts,
    judged,
    readings,
    tensors,
)
from kernelindex.web.handling import page_route, redirect
from kernelindex.web.people import remarks_on
from kernelindex.web.show import align, document, exact, samples_words

if TYPE_CHECKING:
    from collections.abc import Collection

    from markupsafe import Markup
    from starlette.requests import Request
    from starlette.responses import Response

    from kernelindex.catalog.catalog import Catalog
    from kernelindex.resolve.dossier import RunDossier
    from kernelindex.web.people import Remarks

MOST_MANIFEST = 4_000
"""Characters of a manifest that stay on the page; measured runs state each round and kernel."""
OPERATION_KEYS = ("operationSpecDigest", "tensors", "axes", "correctness", "tolerances")


@dataclass(frozen=True, slots=True)
class Measurement:
    """One number of the run."""

    metric: str = field(metadata=told("what is measured"))
    statistic: str = field(metadata=told("which statistic of it"))
    value: Markup = field(metadata=told("the number in its own suitable unit, padded to align"))
    unit: str = field(metadata=told("unit of the shown number"))
    exact: str = field(metadata=told("the unrounded number with its stored unit"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPage(Page):
    """Everything known of one run."""

    template: ClassVar[str] = "run.html"

    run: RunDossier = field(metadata=told("the dossier, as every surface shows it"))
    remarks: Remarks = field(metadata=told("what people said of it, as far as accepted"))
    value: str = field(metadata=told("the primary number without its unit; empty where none"))
    unit: str = field(metadata=told("unit of the primary number"))
    what: str = field(metadata=told("statistic, metric and number of samples"))
    exact: str = field(metadata=told("the primary number unrounded"))
    beside_ns: float | None = field(
        metadata=told("the primary number in ns, beside which shifts are sized")
    )
    compare: str = field(metadata=told("path of the comparison with the leader; empty if leading"))
    tensors: tuple[Tensor, ...] = field(metadata=told("the workload's tensors"))
    workload: tuple[Fact, ...] = field(metadata=told("what else the workload states"))
    protocol: tuple[Fact, ...] = field(metadata=told("what the protocol states"))
    environment: tuple[Fact, ...] = field(metadata=told("what the environment states"))
    correctness: tuple[Fact, ...] = field(metadata=told("policy asked for and result seen"))
    judged: tuple[Judged, ...] = field(metadata=told("outputs and gradients, each on its own"))
    strips: Figure | None = field(
        metadata=told("samples with their clocks, else medians of rounds, where there are any")
    )
    telemetry: tuple[Fact, ...] = field(metadata=told("clocks, power, traits, where recorded"))
    executed: tuple[Executed, ...] = field(
        metadata=told("kernels of one profiled call, where one was profiled")
    )
    measurements: tuple[Measurement, ...] = field(metadata=told("every number of the run"))
    native: tuple[Fact, ...] = field(metadata=told("the source's own metrics, verbatim"))
    source_rows: tuple[str, ...] = field(metadata=told("the source's rows as JSON, verbatim"))
    manifest: str = field(
        metadata=told("the canonical manifest, indented; empty where it has a page of its own")
    )
    bibtex: str = field(metadata=told("the citation as BibTeX"))
    usage: Usage = field(metadata=told("how what ran is installed and imported, or why not"))
    rerun: str | None = field(metadata=told("the line that repeats the run, if possible here"))
    aliases: tuple[str, ...] = field(metadata=told("ids from elsewhere, each digest once"))
    references: tuple[str, ...] = field(metadata=told("addresses that the run's editor gave"))


def run(catalog: Catalog, request: Request) -> RunPage | Response:
    """A run by alias or digest prefix; an alias leads to the permanent address."""
    ident = request.path_params["ident"]
    found = locate(catalog, "run", ident)
    if not found.digest.startswith(f"sha256:{parse_prefix(ident) or '-'}"):
        return redirect(paths.run(found.digest))
    row = catalog.run(found.digest)
    if row is None:
        raise NotFoundError(
            f"The run {found.digest} is stored, but not yet judged.", code="run.not_derived"
        )
    dossier = build_dossier(catalog, row)
    strips = samples_figure(catalog, dossier)
    return build_page(dossier, remarks_on(catalog, found.digest), strips)


def build_page(run: RunDossier, remarks: Remarks, strips: Figure | None) -> RunPage:
    """The context of a run's page from its dossier, what people said of it and its samples."""
    spec = run.manifests["run"]["spec"]
    implementation = run.manifests.get("implementation", {}).get("spec", {})
    permalink = paths.run_permalink(run.identity.run)
    manifest = document(run.manifests["run"])
    return RunPage(
        title=run.title,
        description=run.summary,
        path=permalink,
        json_path=f"/api/v1/runs/{paths.prefix(run.identity.run)}",
        card=paths.card("run", run.identity.run),
        run=run,
        remarks=remarks,
        **_primary(run),
        compare=_compare(run),
        **_stated(run, spec),
        strips=strips,
        measurements=_measurements(run.measurements),
        native=facts(run.source_native.get("metrics", {})),
        source_rows=tuple(
            orjson.dumps(told).decode() for row in run.source.rows if (told := row.get("row", row))
        ),
        manifest=manifest if len(manifest) <= MOST_MANIFEST else "",
        bibtex=bibtex(run, permalink),
        usage=usage_of(implementation, restated=run.implementation.restated),
        rerun=rerun_line(run.identity.run),
        aliases=_aliases(run.identity.aliases),
        references=_references(run),
    )


def _primary(run: RunDossier) -> dict[str, Any]:
    primary = run.primary
    if primary is None:
        return {"value": "", "unit": "", "what": "no number", "exact": "", "beside_ns": None}
    scale = scale_for([primary.value], primary.unit)
    half = (run.interval.high - run.interval.low) / 2 if run.interval else None
    return {
        "value": scale.show(primary.value, half),
        "unit": scale.unit,
        "what": f"{primary.statistic} {primary.metric}, {samples_words(run.sample_count)}",
        "exact": exact(primary.value, primary.unit),
        "beside_ns": primary.value if primary.unit == "ns" else None,
    }


def _stated(run: RunDossier, spec: dict[str, Any]) -> dict[str, Any]:
    """What the manifests around the run state, section by section."""
    specs = {name: document["spec"] for name, document in run.manifests.items()}
    workload = specs.get("workload", {})
    policy, result = run.correctness.get("policy"), run.correctness.get("result")
    told_of_itself: dict[str, Any] = {
        name: spec[name]
        for name in ("runner", "batch", "telemetry", "traits", "memory", "trace")
        if name in spec
    }
    listed = {one.digest for one in run.artifacts}
    return {
        "tensors": tensors(workload),
        "workload": facts(workload, without=OPERATION_KEYS),
        "judged": judged(result or {}, workload.get("tolerances") or {}),
        "protocol": facts(specs.get("protocol", {})),
        "environment": facts(specs.get("environment", {})),
        "correctness": facts({"policy": policy or {}, "result": _without_outputs(result or {})}),
        "telemetry": readings(_without_listed(told_of_itself, listed)),
        "executed": executed(spec),
    }


def _without_listed(told_of: dict[str, Any], listed: Collection[str]) -> dict[str, Any]:
    """What a run tells of itself beside the artifacts that the page lists on their own."""
    return {
        name: _without_listed(value, listed) if isinstance(value, dict) else value
        for name, value in told_of.items()
        if not isinstance(value, dict) or value.get("digest") not in listed
    }


def _without_outputs(result: dict[str, Any]) -> dict[str, Any]:
    """What correctness says beside its outputs, which have a table of their own."""
    return {name: value for name, value in result.items() if name != "outputs"}


def _compare(run: RunDossier) -> str:
    leader = run.standing.leader_run
    if not leader or leader == run.identity.run or run.standing.only_result:
        return ""
    return paths.compare((leader, run.identity.run))


def _measurements(found: tuple[dict[str, Any], ...]) -> tuple[Measurement, ...]:
    plain = [one for one in found if isinstance(one.get("value"), int | float)]
    stored = [Stored(one["value"], str(one.get("unit", ""))) for one in plain]
    told = [text.partition(" ") for text in show_with_units(stored)]
    numbers = align([number for number, *_ in told])
    return tuple(
        Measurement(
            metric=str(one.get("metric", "")).replace("_", " "),
            statistic=str(one.get("statistic", "")),
            value=number,
            unit=unit,
            exact=exact(one["value"], str(one.get("unit", ""))),
        )
        for one, number, (*_, unit) in zip(plain, numbers, told, strict=True)
    )


def _aliases(found: tuple[str, ...]) -> tuple[str, ...]:
    """Ids without the bare forms of a digest that is there with its algorithm."""
    digests = [alias.removeprefix("sha256:") for alias in found if is_digest(alias)]
    return tuple(alias for alias in found if alias not in digests)


def _references(run: RunDossier) -> tuple[str, ...]:
    refs = run.manifests["run"]["metadata"].get("sourceRefs", ())
    return tuple(ref["url"] for ref in refs if str(ref.get("url", "")).startswith("https://"))


routes = [page_route("/runs/{ident}", run)]
