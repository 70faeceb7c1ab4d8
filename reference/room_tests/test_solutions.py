"""The five solutions against other code that does the same, and against values by hand."""

import math
import random

import pytest
import sacrebleu
import torch
from torch import Tensor, nn

from nmt.attention import (
    AttentionDecoder,
    Memory,
    additive_score,
    attend,
    dot_score,
    multiplicative_score,
)
from nmt.beam_search import Hypothesis, beam_search
from nmt.bleu import corpus_bleu, sentence_bleu
from nmt.lstm import LSTMCell
from nmt.masking import masked_cross_entropy, masked_softmax, padding_mask

# --- lstm ------------------------------------------------------------------------------------


def test_state_dicts_interchange_with_torch() -> None:
    """Do the two cells load each other's state dicts and then agree?"""
    ours, theirs = LSTMCell(3, 5).double(), nn.LSTMCell(3, 5).double()
    x, h, c = torch.randn(2, 3), torch.randn(2, 5), torch.randn(2, 5)
    x, state = x.double(), (h.double(), c.double())
    ours.load_state_dict(theirs.state_dict())
    torch.testing.assert_close(ours(x, state), theirs(x, state))
    with torch.no_grad():
        for parameter in ours.parameters():
            parameter.normal_()
    theirs.load_state_dict(ours.state_dict())
    torch.testing.assert_close(ours(x, state), theirs(x, state))


def test_initial_weights_fill_the_range_of_torch() -> None:
    """Are initial weights uniform in ±1/sqrt(H)?"""
    cell = LSTMCell(30, 25)
    for name, parameter in cell.named_parameters():
        assert parameter.abs().max() <= 0.2, name  # 1 / sqrt(25)
        assert parameter.std() > 0.1, name  # that of the uniform distribution is 0.115


# --- masking ---------------------------------------------------------------------------------


def test_padding_mask_is_true_behind_each_sentence() -> None:
    """Is the mask False over a sentence and True behind it?"""
    assert padding_mask(torch.tensor([2, 4, 1]), 4).tolist() == [
        [False, False, True, True],
        [False, False, False, False],
        [False, True, True, True],
    ]


@pytest.mark.parametrize("lengths", [[0, 1], [2, 4]])
def test_padding_mask_refuses_impossible_lengths(lengths: list[int]) -> None:
    """Are lengths below 1 and above the maximum refused?"""
    with pytest.raises(ValueError, match=r"1\.\.3"):
        padding_mask(torch.tensor(lengths), 3)


def test_masked_softmax_gives_padding_nothing() -> None:
    """Is padding at 0 whatever its score, and the rest a softmax?"""
    mask = torch.tensor([[False, False, True]])
    weights = masked_softmax(torch.tensor([[2.0, 1.0, -1.0]]), mask)
    # The score at padding may be much larger than the others.
    same = masked_softmax(torch.tensor([[2.0, 1.0, 50.0]]), mask)
    torch.testing.assert_close(weights, torch.tensor([[0.731059, 0.268941, 0.0]]))
    torch.testing.assert_close(same, weights)


def test_loss_is_a_mean_over_real_tokens() -> None:
    """Is the loss the mean over real tokens, and its gradient 0 at padding?"""
    logits = torch.randn(2, 3, 5, dtype=torch.float64, requires_grad=True)
    targets = torch.tensor([[1, 3, 3], [4, 0, 2]])  # padding is 3 here, and 0 is a word
    loss = masked_cross_entropy(logits, targets, 3)
    logs = logits.log_softmax(2)
    expected = -(logs[0, 0, 1] + logs[1, 0, 4] + logs[1, 1, 0] + logs[1, 2, 2]) / 4
    torch.testing.assert_close(loss, expected)
    loss.backward()  # type: ignore[no-untyped-call]
    assert logits.grad is not None
    assert logits.grad[0, 1:].count_nonzero() == 0
    assert logits.grad[1].count_nonzero() == 15


# --- attention -------------------------------------------------------------------------------


def test_scores_by_hand_and_by_loops() -> None:
    """Do the three scores equal their formulas, key by key?"""
    keys = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]])
    assert dot_score(torch.tensor([[2.0, 0.0]]), keys).tolist() == [[2.0, 0.0, 2.0]]

    s, h, w = torch.randn(2, 3), torch.randn(2, 4, 5), torch.randn(3, 5)
    w_query, w_key, v = torch.randn(6, 3), torch.randn(6, 5), torch.randn(6)
    for b in range(2):
        for i in range(4):
            bilinear = s[b] @ w @ h[b, i]
            torch.testing.assert_close(multiplicative_score(s, h, w)[b, i], bilinear)
            network = v @ torch.tanh(w_key @ h[b, i] + w_query @ s[b])
            torch.testing.assert_close(additive_score(s, h, w_query, w_key, v)[b, i], network)


def test_attend_by_hand() -> None:
    """Does the hand-worked example come out?"""
    values = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]])
    context, weights = attend(
        torch.tensor([[2.0, 0.0, 2.0]]), values, torch.zeros(1, 3, dtype=torch.bool)
    )
    torch.testing.assert_close(weights, torch.tensor([[0.4683, 0.0634, 0.4683]]), atol=1e-4, rtol=0)
    torch.testing.assert_close(context, torch.tensor([[0.9366, 0.5317]]), atol=1e-4, rtol=0)


def test_decoder_step_follows_the_equations() -> None:
    """Does a step equal its equations, and does dropout only drop and scale?"""
    decoder = AttentionDecoder(2, 3, 5, dropout=0.5).double().eval()
    y, o_prev, h, c = (torch.randn(4, n, dtype=torch.float64) for n in (2, 3, 3, 3))
    values = torch.randn(4, 6, 5, dtype=torch.float64)
    mask = padding_mask(torch.tensor([6, 2, 1, 3]), 6)
    memory = Memory(values, decoder.att_projection(values), mask)
    o, (new_h, new_c), weights = decoder.step(y, o_prev, (h, c), memory)

    torch.testing.assert_close((new_h, new_c), decoder.cell(torch.cat([y, o_prev], 1), (h, c)))
    scores = multiplicative_score(new_h, values, decoder.att_projection.weight)
    context, expected = attend(scores, values, mask)
    torch.testing.assert_close(weights, expected)
    combined = torch.cat([context, new_h], 1) @ decoder.combined_output.weight.T
    torch.testing.assert_close(o, combined.tanh())

    torch.testing.assert_close(decoder.step(y, o_prev, (h, c), memory)[0], o)
    dropped = decoder.train().step(y, o_prev, (h, c), memory)[0]
    assert ((dropped == 0) | (dropped - 2 * o).abs().lt(1e-12)).all()
    assert dropped.count_nonzero() < dropped.numel()


# --- beam ------------------------------------------------------------------------------------

END, A, B = 0, 1, 2  # bos is 3
AFTER = {  # p(</s>), p(a), p(b) after each prefix, whose tokens are the state
    (): (0.10, 0.52, 0.38),
    (A,): (0.10, 0.60, 0.30),
    (B,): (0.85, 0.10, 0.05),
    (A, A): (0.15, 0.25, 0.60),
    (A, B): (0.70, 0.20, 0.10),
    (A, A, B): (0.97, 0.02, 0.01),
    (A, A, A): (0.60, 0.30, 0.10),
}


def _step(tokens: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, ...]]:
    (history,) = state
    history = torch.cat([history, tokens.unsqueeze(1)], dim=1)
    rows = [AFTER.get(tuple(row[1:]), (0.80, 0.15, 0.05)) for row in history.tolist()]
    return torch.tensor(rows, dtype=torch.float64).log(), (history,)


def _search(beam_size: int, max_length: int, alpha: float = 1.0) -> list[Hypothesis]:
    start = (torch.empty(1, 0, dtype=torch.int64),)
    return beam_search(
        _step, start, bos=3, eos=END, beam_size=beam_size, max_length=max_length, alpha=alpha
    )


def _rounded(hypotheses: list[Hypothesis]) -> list[tuple[object, ...]]:
    return [(h.tokens, round(h.log_prob, 4), round(h.score, 4)) for h in hypotheses]


def test_beam_search_by_hand() -> None:
    """Does the hand-worked search come out, at several widths and lengths?"""
    long, short = ((A, A, B), -1.7060, -0.4265), ((B,), -1.1301, -0.5651)
    assert _rounded(_search(2, 6)) == [long, short]
    assert [h.tokens for h in _search(2, 6, alpha=0.0)] == [(B,), (A, A, B)]
    assert _rounded(_search(1, 6)) == [long]
    assert _rounded(_search(2, 2)) == [short]
    assert _rounded(_search(2, 1)) == [((A,), -0.6539, -0.6539)]  # none is finished


def _translations(prefix: tuple[int, ...], log_prob: float, words: int) -> dict[object, float]:
    """Return all translations that begin with prefix and have at most `words` words more."""
    end, *others = (math.log(p) for p in AFTER.get(prefix, (0.80, 0.15, 0.05)))
    found: dict[object, float] = {prefix: log_prob + end}
    for token, extension in enumerate(others, start=1):
        if words > 0:
            found |= _translations((*prefix, token), log_prob + extension, words - 1)
    return found


def test_a_beam_as_wide_as_needed_finds_all_translations() -> None:
    """Does a beam without limits find every translation, with its probability?"""
    found = _search(50, 4)
    assert len(found) == 1 + 2 + 4 + 8  # of 0 to 3 words
    assert {h.tokens: h.log_prob for h in found} == pytest.approx(_translations((), 0.0, 3))
    assert [h.score for h in found] == sorted((h.score for h in found), reverse=True)


# --- bleu ------------------------------------------------------------------------------------

REFERENCES = [text.split() for text in ("the cat is on the mat", "there is a cat on the mat")]


@pytest.mark.parametrize(
    ("candidate", "precisions", "penalty", "score"),
    [
        ("the cat is on the mat", (1.00, 1.00, 1.00, 1.00), 1.00, 1.000),
        ("the cat sat on the mat", (0.83, 0.60, 0.25, 0.00), 1.00, 0.420),
        ("mat the on is cat the", (1.00, 0.00, 0.00, 0.00), 1.00, 0.302),
        ("the the the the the the the", (0.29, 0.00, 0.00, 0.00), 1.00, 0.192),
        ("the cat", (1.00, 1.00, 0.00, 0.00), 0.14, 0.135),
        ("a feline rests upon the rug", (0.33, 0.00, 0.00, 0.00), 1.00, 0.230),
    ],
)
def test_bleu_table(
    candidate: str, precisions: tuple[float, ...], penalty: float, score: float
) -> None:
    """Do the lecture's candidates get the lecture's figures?"""
    plain = corpus_bleu([candidate.split()], [REFERENCES])
    smoothed = sentence_bleu(candidate.split(), REFERENCES)
    assert tuple(round(p, 2) for p in plain.precisions) == precisions
    assert round(plain.brevity_penalty, 2) == penalty
    assert round(smoothed.score, 3) == score


@pytest.mark.parametrize("seed", range(20))
def test_corpus_bleu_agrees_with_sacrebleu(seed: int) -> None:
    """Is BLEU that of sacrebleu on random corpora of three references?"""
    dice = random.Random(seed)

    def segment(shortest: int) -> list[str]:
        return dice.choices("abc", k=dice.randint(shortest, 9))

    candidates = [segment(0) for _ in range(6)]
    references = [[segment(1) for _ in range(3)] for _ in range(6)]
    ours = corpus_bleu(candidates, references)
    theirs = sacrebleu.corpus_bleu(
        [" ".join(candidate) for candidate in candidates],
        [[" ".join(group[i]) for group in references] for i in range(3)],
        tokenize="none",
        smooth_method="none",
    )
    # Both round a handful of times in float64.
    assert ours.score == pytest.approx(theirs.score / 100, abs=1e-12)
    assert ours.precisions == pytest.approx([p / 100 for p in theirs.precisions], abs=1e-12)
    assert ours.brevity_penalty == pytest.approx(theirs.bp, abs=1e-12)
    assert (ours.candidate_length, ours.reference_length) == (theirs.sys_len, theirs.ref_len)


def test_bleu_of_nothing() -> None:
    """Do empty segments get their defined scores?"""
    assert corpus_bleu([[]], [[["a"]]]).score == 0.0
    assert sentence_bleu([], [["a"]]).score == 0.0
    assert sentence_bleu(["a"], [["b"]]).score == 0.0
    assert sentence_bleu(["a"], [[]]).score == 0.0
    assert sentence_bleu(["a"], [["a"]]).precisions == (1.0, 1.0, 1.0, 1.0)


def test_bleu_refuses_missing_references() -> None:
    """Are missing references refused?"""
    with pytest.raises(ValueError, match="2 candidates and 1 lists"):
        corpus_bleu([["a"], ["b"]], [[["a"]]])
    with pytest.raises(ValueError, match="at least one reference"):
        corpus_bleu([["a"]], [[]])
    with pytest.raises(ValueError, match="at least one reference"):
        sentence_bleu(["a"], [])
