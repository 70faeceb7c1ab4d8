"""Toy models for a search to run on: given as tensors, so that both sides build the same one.

The grader imports this file as `autograder.probes.toy`, a worker as `probes.toy`. A model is a
dict: "parts" names what its state consists of, in order; the other keys hold the tensors that the
parts need. The logits add up what each part says, so that one part out of its place shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .common import ContractError

States = tuple[Tensor, ...]
Step = Callable[[Tensor, States], tuple[Tensor, States]]


def step_of(model: Mapping[str, Any], start: Sequence[Tensor], max_calls: int) -> Step:
    """Return the model's step(tokens (n,) int64, state) -> (log_probs (n, V), the next state).

    `start` is a state of one row; each later state must be like it in all but dimension 0.

    Raises, when the step is called:
        ContractError: with something else than the contract says, or more than `max_calls` times.
    """
    calls = 0

    def step(tokens: Tensor, state: States) -> tuple[Tensor, States]:
        nonlocal calls
        calls += 1
        if calls > max_calls:
            raise ContractError(
                f"beam_search does not stop: it called step {max_calls} times. It ends when at "
                "least beam_size hypotheses have finished, none is live, or max_length tokens were "
                "generated."
            )
        _check_tokens(tokens, model["embedding"].shape[0])
        _check_state(state, start, len(tokens))
        return advance(model, tokens, state)

    return step


def advance(
    model: Mapping[str, Any], tokens: Tensor, state: Sequence[Tensor]
) -> tuple[Tensor, States]:
    """Let every part read its token; all that is returned is fresh."""
    named = list(zip(model["parts"], state))
    after = tuple(_read(model, name, tokens, part) for name, part in named)
    logits = torch.stack([_logits(model, name, part) for name, part in zip(model["parts"], after)])
    logits = logits.sum(0) + model["bias"]
    return logits.to(model["embedding"].dtype).log_softmax(1), after


def _read(model: Mapping[str, Any], name: str, tokens: Tensor, part: Tensor) -> Tensor:
    embedding: Tensor = model["embedding"]  # (V, d)
    if name == "node":  # (n,) int64: where an automaton stands, which depends on all tokens so far
        following: Tensor = model["next"]  # (N, V)
        return following[part, tokens]
    if name == "hidden":  # (n, d): a recurrent network
        return torch.tanh(part @ model["recurrent"] + embedding[tokens])
    if name == "seen":  # (n, V) bool: which tokens occurred an odd number of times
        return part ^ F.one_hot(tokens, len(embedding)).bool()
    if name == "recent":  # (n, 2, d): the last two embeddings, in a dtype of its own
        return torch.cat([part[:, 1:], embedding[tokens].unsqueeze(1).to(part)], dim=1)
    raise ValueError(f"no part is called {name!r}")


def _logits(model: Mapping[str, Any], name: str, part: Tensor) -> Tensor:
    if name == "node":
        table: Tensor = model["table"]  # (N, V)
        return table[part].double()
    output: Tensor = model[f"{name}_output"]
    return part.flatten(1).double() @ output.double()


def _check_tokens(tokens: Any, vocabulary: int) -> None:
    if not isinstance(tokens, Tensor) or tokens.dtype != torch.int64 or tokens.dim() != 1:
        raise ContractError(
            f"step takes tokens of shape (n,) and torch.int64; beam_search gave it {_kind(tokens)}."
        )
    if bool(((tokens < 0) | (tokens >= vocabulary)).any()):
        raise ContractError(
            f"beam_search gave step a token outside of 0 .. V - 1 = {vocabulary - 1}: an index "
            "into the flattened (n, V) is a row times V plus a token."
        )


def _check_state(state: Any, start: Sequence[Tensor], rows: int) -> None:
    if not isinstance(state, (tuple, list)) or len(state) != len(start):
        raise ContractError(
            f"the state is a tuple of {len(start)} tensors here; beam_search gave step "
            f"{_kind(state)}."
        )
    for index, (part, first) in enumerate(zip(state, start)):
        if not isinstance(part, Tensor) or part.dtype != first.dtype:
            raise ContractError(
                f"state[{index}] is a tensor of {first.dtype}; beam_search gave step {_kind(part)}."
            )
        if part.dim() == 0 or part.shape != (rows, *first.shape[1:]):
            raise ContractError(
                f"beam_search gave step {rows} tokens, and a state[{index}] of shape "
                f"{tuple(part.shape)} where {(rows, *first.shape[1:])} is needed: pick the rows of "
                "EVERY tensor of the state with the hypotheses that they belong to."
            )


def _kind(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)} and {value.dtype}"
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    return f"a {type(value).__name__}"
