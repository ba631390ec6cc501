"""Which passes are checked on which draw, and what a wrong one refuses."""

import pytest

from kernelindex.runner.plan import Candidate, Point
from kernelindex.runner.worker.checking import elsewhere, shown_wrong


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
