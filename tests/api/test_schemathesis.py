"""Generated requests find no server error and no answer that the document does not describe."""

from __future__ import annotations

from typing import Any

import pytest

from kernelindex.api import create_api
from kernelindex.catalog import Catalog
from tests.api.factories import BASE

REFUSED = ["400", "401", "403", "404", "405", "409", "413", "414", "415", "422", "429"]
CONFIG = {
    "generation": {"max-examples": 50, "deterministic": True, "no-shrink": True},
    "suppress-health-check": ["too_slow"],  # a busy machine is no failure
    "phases": {"stateful": {"enabled": False}},
    "checks": {
        "negative_data_rejection": {"expected-statuses": REFUSED},
        # A name that fits its schema may still name nothing, and is then refused.
        "positive_data_acceptance": {"enabled": False},
    },
}


class Below:
    """The API below its base; a Mount would leave paths with a line feed to the site."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            scope = {**scope, "root_path": BASE}
        await self.app(scope, receive, send)


def failures(app: Any) -> tuple[int, dict[str, str]]:
    """How many requests were sent, and each kind of failure with how to repeat it."""
    import schemathesis  # here, since the fast stage reads this file too
    from schemathesis.checks import load_all_checks
    from schemathesis.config import SchemathesisConfig
    from schemathesis.engine import events, from_schema

    load_all_checks()
    config = SchemathesisConfig.from_dict(CONFIG)
    schema = schemathesis.openapi.from_asgi(f"{BASE}/openapi.json", app, config=config)
    sent, found = 0, {}
    for event in from_schema(schema).execute():
        if isinstance(event, events.NonFatalError | events.FatalError):
            found[str(event)] = ""
        if not isinstance(event, events.ScenarioFinished):
            continue
        sent += len(event.recorder.cases)
        for check in (one for checks in event.recorder.checks.values() for one in checks):
            if check.failure_info is not None:
                failure = check.failure_info.failure
                key = f"{event.label}: {failure.title}: {failure.message[:200]}"
                found.setdefault(key, check.failure_info.code_sample)
    return sent, found


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.filterwarnings("ignore")
def test_every_answer_is_documented(starter: Catalog) -> None:
    sent, found = failures(Below(create_api(starter, rates=None)))
    assert found == {}
    assert sent > 2000
