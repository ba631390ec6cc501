"""Which experts a token is sent to, and with what weight.

Every distribution is a top-k over fp32 scores [T, E], as routers make it, so the K experts of a
token differ and its weights, the softmax over the kept scores, go down along K.

    uniform        standard normal scores: every expert equally likely
    skewed         Zipf: expert e drawn in proportion to 1 / (e + 1)^exponent, without replacement
    single_expert  the same K experts, drawn once, take every token; with K = 1 one takes all
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernelindex.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import torch

__all__ = ["DISTRIBUTIONS", "route"]

DISTRIBUTIONS = ("uniform", "skewed", "single_expert")
OUT_OF_REACH = 100.0
"""Added to or taken from a score: standard normal scores never get that far."""


def route(
    shape: tuple[int, int, int],
    distribution: str,
    parameters: Mapping[str, Any],
    generator: torch.Generator,
    device: str,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Experts int32 [T, K] and their weights fp32 [T, K], for ``shape`` T, E, K.

    Parameters: ``exponent`` (skewed, 1 where it is not given), ``emptyShare`` (that share of the
    experts, at least one, gets no token as far as K allows), ``overfullShare`` (that share of
    the tokens goes to the same K experts). Raises RequestError for another distribution.
    """
    import torch

    tokens, experts, top_k = shape
    scores = torch.randn(tokens, experts, generator=generator, device=device)
    scores = _shaped(scores, distribution, parameters, top_k, generator)
    if share := float(parameters.get("emptyShare", 0)):
        empty = _some(experts, _empty(share, experts, top_k), generator, device)
        scores = scores - OUT_OF_REACH * _before_others(empty)
    if share := float(parameters.get("overfullShare", 0)):
        full = OUT_OF_REACH * _some(experts, top_k, generator, device)
        scores[: round(share * tokens)] += full
    index = torch.topk(scores, top_k, dim=-1).indices
    weights = torch.softmax(torch.gather(scores, 1, index), dim=-1)
    return index.to(torch.int32), weights


def _shaped(
    scores: torch.Tensor,
    distribution: str,
    parameters: Mapping[str, Any],
    top_k: int,
    generator: torch.Generator,
) -> torch.Tensor:
    import torch

    experts, device = scores.shape[1], str(scores.device)
    if distribution == "uniform":
        return scores
    if distribution == "single_expert":
        return scores + OUT_OF_REACH * _some(experts, top_k, generator, device)
    if distribution != "skewed":
        raise RequestError(
            f"moe-mlp has no distribution {distribution!r}; it has: {', '.join(DISTRIBUTIONS)}"
        )
    # Gumbel noise plus log-probability: the k largest are k draws without replacement.
    uniform = torch.rand(scores.shape, generator=generator, device=device)
    gumbel = -torch.log(-torch.log(uniform.clamp(1e-9, 1 - 1e-7)))
    rank = torch.arange(1, experts + 1, device=device, dtype=torch.float32)
    return gumbel - float(parameters.get("exponent", 1.0)) * rank.log()


def _empty(share: float, experts: int, top_k: int) -> int:
    return max(0, min(max(1, round(share * experts)), experts - top_k))


def _before_others(empty: torch.Tensor) -> torch.Tensor:
    """The same experts, or as many first ones where they were just the last ones, [E].

    Behind the last expert with tokens an empty one shifts nothing: a candidate that forgets
    about empty experts would be right.
    """
    last = empty[empty.shape[0] - int(empty.sum()) :]
    return empty.flip(0) if bool(last.all()) else empty


def _some(experts: int, count: int, generator: torch.Generator, device: str) -> torch.Tensor:
    """1 for ``count`` experts drawn at random, 0 for the others, [E]."""
    import torch

    chosen = torch.zeros(experts, device=device)
    chosen[torch.randperm(experts, generator=generator, device=device)[:count]] = 1.0
    return chosen
