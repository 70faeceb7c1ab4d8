"""Task `attention`: three scores, the weighted mean, and a decoder step that uses them."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from nmt.lstm import LSTMCell
from nmt.masking import masked_softmax

State = tuple[Tensor, Tensor]  # (h, c), each (B, H)


def dot_score(query: Tensor, keys: Tensor) -> Tensor:
    """Score each key by its inner product with the query.

    query s (B, H), keys h (B, S, H) -> scores e (B, S):

        e_i = sᵀ h_i

    There is no division by sqrt(H). Masking is not done here: padding is scored like the rest.
    The inputs are left as they are; the result has their dtype and is differentiable with respect
    to both. It must work in float32 and float64, at B = 1 and at S = 1 (so no `squeeze()` without
    a dimension).

    Source: Luong et al. (2015), "dot".
    """
    # BEGIN SOLUTION attention
    return torch.einsum("bh,bsh->bs", query, keys)
    # END SOLUTION attention


def multiplicative_score(query: Tensor, keys: Tensor, weight: Tensor) -> Tensor:
    """Score each key by a bilinear form of the query and the key.

    query s (B, H), keys h (B, S, D), weight W (H, D) -> scores e (B, S):

        e_i = sᵀ W h_i

    H and D may differ. No masking here. The inputs are left as they are; the result has their dtype
    and is differentiable with respect to all three. It must work in float32 and float64, at B = 1
    and at S = 1.

    Source: Luong et al. (2015), "general".
    """
    # BEGIN SOLUTION attention
    # sᵀW first: one product a row instead of one a key.
    return dot_score(query @ weight, keys)
    # END SOLUTION attention


def additive_score(
    query: Tensor, keys: Tensor, w_query: Tensor, w_key: Tensor, v: Tensor
) -> Tensor:
    """Score each key by a small network of one hidden layer.

    query s (B, H), keys h (B, S, D), w_query W₂ (A, H), w_key W₁ (A, D), v (A,) -> scores e (B, S):

        e_i = vᵀ tanh(W₁ h_i + W₂ s)

    A, D and H may differ. No masking here. The inputs are left as they are; the result has their
    dtype and is differentiable with respect to all five. It must work in float32 and float64, at
    B = 1 and at S = 1.

    Source: Bahdanau et al. (2015).
    """
    # BEGIN SOLUTION attention
    hidden = keys @ w_key.T + (query @ w_query.T).unsqueeze(1)  # (B, S, A)
    return hidden.tanh() @ v
    # END SOLUTION attention


def attend(scores: Tensor, values: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Return the mean of the values, weighted by the softmax of the scores, and the weights.

    scores e (B, S), values h (B, S, D), mask (B, S) bool, True = padding
    -> (context a (B, D), weights α (B, S)), in this order:

        α = softmax of e over the real positions, 0 at padding; each row sums to 1
        a = sum over i of α_i h_i

    `masked_softmax` of nmt/masking.py is imported for the first line (what it promises about
    scores and mask holds here too); doing the same here without it is just as right. The inputs are
    left as they are. scores and values have the same dtype, and so do both results; these are
    differentiable with respect to scores, the context also to values. It must work in float32 and
    float64, at B = 1 and at S = 1.
    """
    # BEGIN SOLUTION attention
    weights = masked_softmax(scores, mask)
    return torch.einsum("bs,bsd->bd", weights, values), weights
    # END SOLUTION attention


class Memory(NamedTuple):
    """Hold what the decoder looks at: the encoded source sentence of each row of the batch."""

    values: Tensor  # (B, S, D), the encoder's outputs
    keys: Tensor  # (B, S, H), always att_projection(values): computed once a sentence
    mask: Tensor  # (B, S) bool, True = padding


class AttentionDecoder(nn.Module):
    """Decode with input feeding, multiplicative attention and a combined output."""

    def __init__(
        self, embedding_size: int, hidden_size: int, memory_size: int, dropout: float = 0.0
    ) -> None:
        """Create the layers for E = embedding_size, H = hidden_size, D = memory_size (given)."""
        super().__init__()
        self.cell = LSTMCell(embedding_size + hidden_size, hidden_size)
        self.att_projection = nn.Linear(memory_size, hidden_size, bias=False)
        self.combined_output = nn.Linear(memory_size + hidden_size, hidden_size, bias=False)
        self.dropout = nn.Dropout(dropout)

    def step(
        self, y: Tensor, o_prev: Tensor, state: State, memory: Memory
    ) -> tuple[Tensor, State, Tensor]:
        """Decode one token.

        y (B, E) is the embedding of the last token, o_prev (B, H) the last step's output (zeros at
        the first step; the caller passes them), state = (h, c), each (B, H), memory a Memory
        -> (o (B, H), (h', c'), weights α (B, S)). In this order:

            h', c' = cell([y; o_prev], (h, c))          y first, then o_prev (input feeding)
            e_i    = h'ᵀ keys_i = h'ᵀ W values_i        the NEW h', not h
            a, α   = attend(e, values, mask)
            u      = [a; h']                            the context first, then h'
            o      = dropout(tanh(combined_output(u)))

        W is the weight of `att_projection` (H, D). The caller has made memory.keys, and they are
        always att_projection(values): step need not call it. So scoring the keys by `dot_score` and
        scoring memory.values by `multiplicative_score` come to the same; the first is faster, both
        are accepted. α is as in `attend`, without dropout.

        Use the layers made in `__init__`, and `self.dropout` for the dropout: off in evaluation
        mode, and in training mode each entry of o is 0 or tanh(.) / (1 - p). Nothing else is
        random. Nothing is changed in place or kept on `self`. The results have the inputs' dtype
        and are differentiable with respect to every float input and parameter (o is; the state does
        not depend on the memory). It must work in float32 and float64, at B = 1 and at S = 1.

        Not allowed, in this step or in the functions above: `scaled_dot_product_attention`,
        `nn.MultiheadAttention`, `flex_attention` and the Transformer layers.

        Source: Luong et al. (2015), sections 3.1 and 3.3.
        """
        # BEGIN SOLUTION attention
        h, c = self.cell(torch.cat([y, o_prev], dim=1), state)
        context, weights = attend(dot_score(h, memory.keys), memory.values, memory.mask)
        combined = self.combined_output(torch.cat([context, h], dim=1))
        return self.dropout(combined.tanh()), (h, c), weights
        # END SOLUTION attention
