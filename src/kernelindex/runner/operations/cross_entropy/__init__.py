"""Cross entropy, averaged over tokens: generators and reference.

logits [tokens, vocab]   target [tokens] int64   ->   loss [] fp32
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex.runner.operations.drawing import (
    draw_mixed,
    draw_normal,
    draw_normal_numpy,
    mixed_scale_numpy,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import torch

    from kernelindex.runner.operations.case import Case


def make_inputs(
    case: Case, draw: str, generator: torch.Generator, device: str
) -> dict[str, torch.Tensor]:
    """Normal logits and uniform targets; ``stress`` mixes magnitudes, up to logits past 1000."""
    import torch

    draw_logits = draw_mixed if draw == "stress" else draw_normal
    logits = draw_logits(case, "logits", generator, device)
    shape, vocab = case.shape("target"), case.axes["vocab"]
    return {
        "logits": logits,
        "target": torch.randint(vocab, shape, generator=generator, device=device),
    }


def reference(inputs: Mapping[str, torch.Tensor], case: Case) -> dict[str, torch.Tensor]:
    """The formula, in the dtype of its inputs."""
    logits, target = inputs["logits"], inputs["target"]
    chosen = logits.gather(1, target[:, None])[:, 0]
    return {"loss": (logits.logsumexp(-1) - chosen).mean()}


def make_inputs_numpy(case: Case, draw: str, rng: np.random.Generator) -> dict[str, Any]:
    """As ``make_inputs``, of another sequence, for machines without torch."""
    logits = draw_normal_numpy(case, "logits", rng)
    if draw == "stress":
        logits = (logits * mixed_scale_numpy(logits.shape, rng)).astype(logits.dtype)
    return {"logits": logits, "target": rng.integers(case.axes["vocab"], size=case.shape("target"))}


def reference_numpy(inputs: Mapping[str, Any], case: Case) -> dict[str, Any]:
    """As ``reference``, on numpy arrays."""
    import numpy as np

    logits, target = inputs["logits"], inputs["target"]
    top = logits.max(-1)
    total = np.log(np.exp(logits - top[:, None]).sum(-1)) + top
    chosen = np.take_along_axis(logits, target[:, None], 1)[:, 0]
    return {"loss": (total - chosen).mean()}
