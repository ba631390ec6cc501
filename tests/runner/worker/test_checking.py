"""Which passes are checked on which draw, and what a wrong one refuses."""

from types import SimpleNamespace

import pytest

from kernelindex.runner.plan import Candidate, Point
from kernelindex.runner.worker.checking import Asked, elsewhere, note_result, shown_wrong


def point(*passes: str) -> Point:
    return Point(
        id="p",
        operation="rms-norm",
        axes={},
        dtypes={},
        passes=passes,
        draws=("own", "stress"),
        candidates=(Candidate(id="a", entry="m:f", passes=passes),),
    )


TRAINING = point("forward", "backward", "full")


def test_full_stands_for_its_parts_on_other_draws() -> None:
    assert elsewhere(TRAINING) == ("full",)
    assert elsewhere(point("inference", "forward", "full")) == ("inference", "full")
    assert elsewhere(point("forward", "backward")) == ("forward", "backward")


@pytest.mark.parametrize(
    ("failed", "refused"),
    [
        (["y"], {"full", "forward"}),
        (["grad_x"], {"full", "backward"}),
        (["y", "grad_x"], {"full", "forward", "backward"}),
        ([], {"full", "forward"}),
    ],
)
def test_what_full_shows_wrong_refuses_the_pass_that_makes_it(failed, refused) -> None:
    assert shown_wrong("full", "stress", TRAINING, failed) == refused
    assert shown_wrong("full", "own", TRAINING, failed) == {"full"}
    assert shown_wrong("forward", "stress", TRAINING, failed) == {"forward"}


@pytest.mark.parametrize(("draw", "timed"), [("stress", False), ("own", True)])
def test_a_refusal_names_the_draw_whose_error_it_gives(draw: str, timed: bool) -> None:
    member = SimpleNamespace(checked={}, found={}, passes=())
    result = {
        "status": "incorrect_numerical",
        "reason": "wrong_gradient",
        "text": "grad_x: relative Frobenius error is 0.1; 1e-06 may be",
        "outputs": {},
    }
    refused = note_result(member, Asked(draw, "full", 0, 0), result, timed=timed)
    assert refused is not None
    assert refused.text.endswith(f"1e-06 may be (on the {draw} draw)")
