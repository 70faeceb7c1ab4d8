"""Mistakes with padding masks, the masked softmax and the masked loss."""

from __future__ import annotations

from autograder.misconceptions.entry import Misconception

SIDE_EFFECTS = ("test_no_side_effects",)
MASK = ("test_padding_mask", "test_padding_mask_device", *SIDE_EFFECTS)
SOFTMAX = ("test_masked_softmax", "test_masked_softmax_gradients", *SIDE_EFFECTS)
SOFTMAX_GRADIENTS = ("test_masked_softmax_gradients",)
LOSS = ("test_masked_cross_entropy", "test_masked_cross_entropy_gradients", *SIDE_EFFECTS)
LOSS_GRADIENTS = ("test_masked_cross_entropy_gradients",)

POLARITY = "Say aloud what True means in this package, and what the loop does with it."
ROWS = "Write down the mask of two short sentences of different lengths; every row has its own."
INFINITY = "Which score has to stand at padding so that e to its power is no weight at all?"
SUMS = "Add up a row of your weights: what must come out, and over which positions?"
COUNT = "What is the loss of a batch that gets one more column of padding? It must not change."
PAD_ID = "The one thing that makes a target padding is that it equals pad_id."
GRAPH = "The gradient flows through every tensor operation, and through nothing else."
COPY = "The caller still needs its tensors: give your result a new tensor."
SQUEEZE = "What does squeeze() without a dimension do to a batch of one, or a source of one?"
DTYPE = "Take dtype and device from the inputs, never from a constant."


def function(name: str, arguments: str, body: str) -> str:
    """Return an override of a function; `right` in its body is the reference's."""
    indented = "\n".join(f"    {line}" for line in body.strip().splitlines())
    return f"right = {name}\ndef {name}({arguments}):\n{indented}\n"


def mask(
    name: str, belief: str, advice: str, body: str, caught_by: tuple[str, ...] = MASK
) -> Misconception:
    """Make an entry about padding_mask; the body may use `lengths`, `max_length` and `right`."""
    code = function("padding_mask", "lengths, max_length", body)
    return Misconception(f"masking-{name}", "masking", belief, advice, code, caught_by)


def softmax(
    name: str, belief: str, advice: str, body: str, caught_by: tuple[str, ...] = SOFTMAX
) -> Misconception:
    """Make an entry about masked_softmax; the body may use `scores`, `mask` and `right`."""
    code = function("masked_softmax", "scores, mask", body)
    return Misconception(f"masking-{name}", "masking", belief, advice, code, caught_by)


def loss(
    name: str, belief: str, advice: str, body: str, caught_by: tuple[str, ...] = LOSS
) -> Misconception:
    """Make an entry about masked_cross_entropy.

    The body may use `logits`, `targets`, `pad_id` and `right`, also `nll` (B, T) and `real` (B, T).
    """
    start = """
nll = F.cross_entropy(logits.transpose(1, 2), targets, reduction="none")
real = targets != pad_id"""
    code = function("masked_cross_entropy", "logits, targets, pad_id", f"{start}\n{body.strip()}")
    return Misconception(f"masking-{name}", "masking", belief, advice, code, caught_by)


MASKS = [
    mask("mask-inverted", "True = real.", POLARITY, "return ~right(lengths, max_length)"),
    mask(
        "mask-late",
        "Padding starts at position len + 1.",
        "Count the False of one row: there must be as many as the length says.",
        "return torch.arange(max_length, device=lengths.device) > lengths.unsqueeze(1)",
    ),
    mask(
        "mask-early",
        "Padding starts at position len - 1.",
        "Count the False of one row: there must be as many as the length says.",
        "return torch.arange(max_length, device=lengths.device) >= lengths.unsqueeze(1) - 1",
    ),
    mask(
        "mask-width",
        "The mask is as wide as the longest sentence.",
        "Which argument gives the width? A batch may be padded further than it needs.",
        "return right(lengths, max_length)[:, :int(lengths.max())]",
        ("test_padding_mask",),
    ),
    mask(
        "mask-width-of-first",
        "The lengths are sorted, so the first one is the largest.",
        "The lengths come in any order.",
        "return right(lengths.clamp(max=int(lengths[0])), max_length)",
        ("test_padding_mask",),
    ),
    mask(
        "mask-of-longest",
        "One row's mask does for the batch.",
        ROWS,
        "return right(lengths.max().expand_as(lengths), max_length)",
    ),
    mask(
        "mask-of-last",
        "One row's mask does for the batch: that of the last.",
        ROWS,
        "return right(lengths[-1].expand_as(lengths), max_length)",
    ),
    mask(
        "mask-sorted",
        "The lengths may be sorted first.",
        "Row b of the mask belongs to row b of the batch.",
        "return right(lengths.sort(descending=True).values, max_length)",
    ),
    mask(
        "mask-left",
        "Padding stands on the left.",
        "A sentence starts at position 0; what fills its row up comes after it.",
        "return right(lengths, max_length).flip(1)",
    ),
    mask(
        "mask-transposed",
        "The mask is (max_length, B).",
        "Tensors are batch-first.",
        "return right(lengths, max_length).T",
    ),
    mask(
        "mask-float",
        "A mask of 0 and 1 is a mask.",
        "masked_fill and ~ need a mask of torch.bool.",
        "return right(lengths, max_length).float()",
    ),
    mask(
        "mask-long",
        "A mask of integers is a mask.",
        "masked_fill and ~ need a mask of torch.bool.",
        "return right(lengths, max_length).long()",
    ),
    mask(
        "mask-squeezed",
        "squeeze() tidies the mask up.",
        SQUEEZE,
        "return right(lengths, max_length).squeeze()",
        ("test_padding_mask",),
    ),
    mask(
        "mask-minus",
        "1 - mask turns a mask round.",
        "Boolean tensors have no minus; how is a truth value negated?",
        "return 1 - (torch.arange(max_length, device=lengths.device) < lengths.unsqueeze(1))",
    ),
    mask(
        "mask-unchecked",
        "Lengths are always in range.",
        "The contract names the error for a length below 1 or above max_length.",
        "return torch.arange(max_length, device=lengths.device) >= lengths.unsqueeze(1)",
        ("test_padding_mask_lengths",),
    ),
    mask(
        "mask-accepts-zero",
        "A length of 0 is fine.",
        "A sentence without a word has nothing to attend to: softmax would divide 0 by 0.",
        "return right(lengths.clamp(min=1), max_length) | (lengths == 0).unsqueeze(1)",
        ("test_padding_mask_lengths",),
    ),
    mask(
        "mask-accepts-long",
        "A length above max_length means that all is real.",
        "A length that does not fit is a mistake of the caller, who has to hear of it.",
        "return right(lengths.clamp(max=max_length), max_length)",
        ("test_padding_mask_lengths",),
    ),
    mask(
        "mask-refuses-full",
        "A length must be below max_length.",
        "A sentence may fill its row.",
        """
if (lengths >= max_length).any():
    raise ValueError(f"lengths must be below {max_length}")
return right(lengths, max_length)""",
        ("test_padding_mask", "test_padding_mask_lengths"),
    ),
    mask(
        "mask-checks-first",
        "It is enough to check the first length.",
        "Any length of the batch may be the wrong one.",
        """
right(lengths[:1], max_length)
return torch.arange(max_length, device=lengths.device) >= lengths.unsqueeze(1)""",
        ("test_padding_mask_lengths",),
    ),
    mask(
        "mask-asserts",
        "assert is a check.",
        "The contract names the kind of the error: which one does assert raise?",
        """
assert (lengths >= 1).all() and (lengths <= max_length).all()
return right(lengths, max_length)""",
        ("test_padding_mask_lengths",),
    ),
    mask(
        "mask-on-cpu",
        "A new tensor is on the right device by itself.",
        DTYPE,
        """
if ((lengths < 1) | (lengths > max_length)).any():
    raise ValueError("a length is out of range")
return torch.arange(max_length) >= lengths.unsqueeze(1)""",
        ("test_padding_mask_device",),
    ),
    mask(
        "mask-rebuilt-on-cpu",
        "A mask made from a list, or by torch.ones, is on the right device by itself.",
        DTYPE,
        "return torch.tensor(right(lengths, max_length).tolist())",
        ("test_padding_mask_device",),
    ),
    mask(
        "lengths-in-place",
        "lengths is mine to change.",
        COPY,
        """
result = right(lengths, max_length)
lengths -= 1
return result""",
        SIDE_EFFECTS,
    ),
]

SOFTMAXES = [
    softmax("unmasked", "Softmax sees to padding.", INFINITY, "return scores.softmax(1)"),
    softmax(
        "zero-fill",
        "A score of 0 at padding (or of 1e-9, where -1e9 was meant) leaves it no weight.",
        INFINITY,
        "return (scores * ~mask).softmax(1)",
    ),
    softmax(
        "small-fill",
        "-1 is small enough a score.",
        INFINITY,
        "return scores.masked_fill(mask, -1.0).softmax(1)",
    ),
    softmax(
        "minimum-fill",
        "The smallest score of the row is small enough.",
        INFINITY,
        """
lowest = scores.masked_fill(mask, float("inf")).amin(1, keepdim=True)
return torch.where(mask, lowest, scores).softmax(1)""",
    ),
    softmax(
        "real-zero-as-padding",
        "Where the score is 0, there is padding.",
        "A real score may be 0: what says whether a position is padding?",
        'return scores.masked_fill(mask | (scores == 0), float("-inf")).softmax(1)',
        ("test_masked_softmax",),
    ),
    softmax(
        "over-batch-large-fill",
        "softmax over dimension 0, after a fill of -1e9.",
        "Which dimension holds the positions of one sentence? Those must sum to 1.",
        "return scores.masked_fill(mask, -1e9).softmax(0)",
    ),
    softmax(
        "not-renormalised",
        "Weights at padding are set to 0 after the softmax, and that is all.",
        SUMS,
        "return scores.softmax(1) * ~mask",
    ),
    softmax(
        "softmax-twice",
        "A second softmax makes the rows sum to 1 again.",
        SUMS,
        "return (scores.softmax(1) * ~mask).softmax(1)",
    ),
    softmax(
        "epsilon",
        "A small number in the denominator is harmless.",
        "How small can the sum of the real weights be, where padding has the largest score?",
        """
weights = scores.softmax(1) * ~mask
return weights / (weights.sum(1, keepdim=True) + 1e-9)""",
    ),
    softmax(
        "uniform",
        "All real positions weigh the same.",
        "What are the scores for?",
        "return (~mask / (~mask).sum(1, keepdim=True)).to(scores.dtype)",
    ),
    softmax(
        "linear-weights",
        "Scores are divided by their sum.",
        "Weights must be positive and sum to 1, also where scores are negative.",
        "return scores * ~mask / (scores * ~mask).sum(1, keepdim=True)",
    ),
    softmax("inverted", "True = real.", POLARITY, "return right(scores, ~mask)"),
    softmax(
        "over-batch",
        "softmax over dimension 0.",
        "Which dimension holds the positions of one sentence? Those must sum to 1.",
        'return scores.masked_fill(mask, float("-inf")).softmax(0)',
    ),
    softmax(
        "over-all",
        "One softmax over the whole tensor.",
        "Each row must sum to 1.",
        'return scores.masked_fill(mask, float("-inf")).flatten().softmax(0).view_as(scores)',
    ),
    softmax(
        "first-mask-for-all",
        "One row's mask does for the batch.",
        ROWS,
        "return right(scores, mask[:1].expand_as(mask))",
    ),
    softmax(
        "any-mask-for-all",
        "A position is padding where any row has padding.",
        ROWS,
        "return right(scores, mask.any(0, keepdim=True).expand_as(mask)).nan_to_num()",
    ),
    softmax(
        "log-softmax",
        "The logarithms of the weights.",
        SUMS,
        "return scores.masked_fill(mask, -1e9).log_softmax(1)",
    ),
    softmax(
        "masked-scores",
        "The scores with -1e9 at padding are the weights.",
        SUMS,
        "return scores.masked_fill(mask, -1e9)",
    ),
    softmax(
        "softmax-squeezed",
        "squeeze() tidies the weights up.",
        SQUEEZE,
        "return right(scores, mask).squeeze()",
        ("test_masked_softmax",),
    ),
    softmax(
        "mask-as-prefix",
        "A mask is always some False and then True: counting them is enough.",
        "The mask says of each position whether it is padding; use it position by position.",
        """
lengths = (~mask).sum(1, keepdim=True)
return right(scores, torch.arange(mask.shape[1], device=mask.device) >= lengths)""",
        ("test_masked_softmax_any_mask",),
    ),
    softmax(
        "infinity-times-zero",
        "-inf times 0 is 0.",
        "Try it: what is infinity times zero?",
        'return (scores + mask * float("-inf")).softmax(1)',
    ),
    softmax(
        "scores-in-place",
        "masked_fill_ saves memory.",
        COPY,
        'return scores.data.masked_fill_(mask, float("-inf")).softmax(1)',
        (*SOFTMAX_GRADIENTS, *SIDE_EFFECTS),
    ),
    *(
        softmax(
            f"scores-filled-in-place{end}",
            f"scores.masked_fill_(mask, {fill}) saves memory.",
            COPY,
            f"return scores.masked_fill_(mask, float('{fill}')).softmax(1)",
            (*SOFTMAX_GRADIENTS, *SIDE_EFFECTS),
        )
        for end, fill in (("", "-inf"), ("-1e9", "-1e9"))
    ),
    softmax(
        "filled-in-place-without-grad",
        "Where no gradient is needed (torch.no_grad()), scores may be changed in place.",
        COPY,
        """
if not torch.is_grad_enabled():
    scores.masked_fill_(mask, float("-inf"))
return right(scores, mask)""",
        SIDE_EFFECTS,
    ),
    softmax(
        "mask-in-place",
        "The mask is mine to change.",
        COPY,
        "result = right(scores, mask)\nmask.logical_not_()\nreturn result",
        SIDE_EFFECTS,
    ),
    softmax(
        "weights-detached",
        "The weights need no gradient.",
        GRAPH,
        "return right(scores, mask).detach()",
        SOFTMAX_GRADIENTS,
    ),
    softmax(
        "normaliser-detached",
        "The sum in the denominator is a constant.",
        GRAPH,
        """
top = scores.masked_fill(mask, float("-inf")).amax(1, keepdim=True).detach()
weights = (scores - top).masked_fill(mask, float("-inf")).exp()
return weights / weights.sum(1, keepdim=True).detach()""",
        SOFTMAX_GRADIENTS,
    ),
    softmax(
        "gradient-nan",
        "torch.where hides what its other side does.",
        "Backward goes through both sides of torch.where: what is the gradient of a / 0?",
        """
divided = scores / ~mask
return torch.where(mask, float("-inf"), divided).softmax(1)""",
        SOFTMAX_GRADIENTS,
    ),
    softmax(
        "softmax-float32",
        "Weights are float32.",
        DTYPE,
        "return right(scores, mask).float()",
        ("test_masked_softmax", "test_masked_softmax_gradients"),
    ),
    softmax(
        "softmax-float32-then-back",
        "It is enough that the weights have the scores' dtype; on the way, float32 will do.",
        DTYPE,
        "return right(scores.float(), mask).to(scores.dtype)",
        ("test_masked_softmax", *SOFTMAX_GRADIENTS),
    ),
    softmax(
        "softmax-seeds",
        "A fixed seed makes results reproducible.",
        "A seed is set once, where the program starts: everyone else draws from the same numbers.",
        "torch.manual_seed(0)\nreturn right(scores, mask)",
        SIDE_EFFECTS,
    ),
]

LOSSES = [
    loss(
        "loss-pad-falsy",
        "A pad_id of 0 means that there is none.",
        PAD_ID,
        "return right(logits, targets, pad_id or -100)",
        ("test_masked_cross_entropy",),
    ),
    loss(
        "loss-above-pad",
        "Real targets have ids above pad_id.",
        PAD_ID,
        "return nll[targets > pad_id].mean()",
    ),
    loss(
        "loss-transposed-by-view",
        "view(B, V, T) transposes the logits.",
        "Which numbers stand in a row after view, and which after transpose? Try 2 × 3.",
        """
batch, length, words = logits.shape
return F.cross_entropy(logits.reshape(batch, words, length), targets, ignore_index=pad_id)""",
    ),
    loss(
        "loss-float32-then-back",
        "It is enough that the loss has the logits' dtype; on the way, float32 will do.",
        DTYPE,
        "return right(logits.float(), targets, pad_id).to(logits.dtype)",
        ("test_masked_cross_entropy", *LOSS_GRADIENTS),
    ),
    loss("loss-unmasked", "The loss sees to padding.", COUNT, "return nll.mean()"),
    loss(
        "loss-over-all",
        "The mean of the masked losses.",
        COUNT,
        "return (nll * real).mean()",
    ),
    loss(
        "loss-stops-at-first-pad",
        "After the first pad_id there is nothing.",
        "Which targets are real is decided target by target.",
        "real = ((targets == pad_id).cumsum(1) == 0).to(nll.dtype)\n"
        "return (nll * real).sum() / real.sum()",
        ("test_masked_cross_entropy",),
    ),
    loss(
        "loss-padding-in-sum",
        "Padding counts in the sum, not in the number.",
        COUNT,
        "return nll.sum() / real.sum()",
    ),
    loss(
        "loss-summed",
        "The sum over real targets.",
        "The loss must not grow with the batch.",
        "return (nll * real).sum()",
    ),
    loss(
        "loss-per-sentence",
        "The sum, divided by the number of sentences.",
        "Every token weighs the same: by what number is the sum divided?",
        "return (nll * real).sum() / len(targets)",
    ),
    loss(
        "loss-mean-of-means",
        "The mean of the sentences' means.",
        "Every token weighs the same, in a short sentence or a long one.",
        "return ((nll * real).sum(1) / real.sum(1).clamp(min=1)).mean()",
    ),
    loss(
        "loss-pad-zero",
        "Padding has id 0.",
        PAD_ID,
        "return right(logits, targets, 0)",
    ),
    loss(
        "loss-pad-and-zero",
        "Id 0 is padding too.",
        PAD_ID,
        "real = real & (targets != 0)\nreturn (nll * real).sum() / real.sum().clamp(min=1)",
    ),
    loss(
        "loss-without-eos",
        "</s> is no word (id 2).",
        "Who never hears of the end of a sentence never learns to stop.",
        "real = real & (targets != 2)\nreturn (nll * real).sum() / real.sum().clamp(min=1)",
    ),
    loss(
        "loss-without-unk",
        "Unknown words do not count (id 3).",
        PAD_ID,
        "real = real & (targets != 3)\nreturn (nll * real).sum() / real.sum().clamp(min=1)",
    ),
    loss(
        "loss-without-first",
        "The first target is <s>.",
        PAD_ID,
        "real = real[:, 1:]\nreturn (nll[:, 1:] * real).sum() / real.sum().clamp(min=1)",
    ),
    loss(
        "loss-without-last",
        "The last real target of each sentence is left out.",
        "Who never hears of the end of a sentence never learns to stop.",
        """
real = real & torch.cat([real[:, 1:], torch.zeros_like(real[:, :1])], dim=1)
return (nll * real).sum() / real.sum().clamp(min=1)""",
    ),
    loss(
        "loss-pad-logit",
        "Padding is where the logits prefer pad_id.",
        PAD_ID,
        "real = logits.argmax(2) != pad_id\nreturn (nll * real).sum() / real.sum().clamp(min=1)",
    ),
    loss("loss-inverted", "True = real.", POLARITY, "return nll[~real].sum() / real.sum()"),
    loss("loss-sign", "The mean log-likelihood.", "Less is better.", "return -nll[real].mean()"),
    loss(
        "loss-base-2",
        "In bits.",
        "Which logarithm has the contract's NLL?",
        "return nll[real].mean() / torch.tensor(2.0).log()",
    ),
    loss(
        "loss-of-probabilities",
        "The logits go through softmax before cross_entropy.",
        "Does the loss function expect logits or probabilities?",
        "return right(logits.softmax(2), targets, pad_id)",
    ),
    loss(
        "loss-probability",
        "The mean probability of the targets.",
        "The negative log-likelihood has a logarithm.",
        "return 1 - (-nll).exp()[real].mean()",
    ),
    loss(
        "loss-over-positions",
        "softmax over the positions.",
        "Over which dimension do the probabilities of the words sum to 1?",
        """
nll = -logits.log_softmax(1).gather(2, targets.unsqueeze(2)).squeeze(2)
return nll[real].mean()""",
    ),
    loss(
        "loss-unnormalised",
        "Logits are log-probabilities.",
        "Do the probabilities of the words sum to 1?",
        "return -logits.gather(2, targets.unsqueeze(2)).squeeze(2)[real].mean()",
    ),
    loss(
        "loss-epsilon",
        "log(p + 1e-9) is log(p), and safer.",
        "What is the loss of a token that the model finds almost impossible?",
        "return -((-nll).exp() + 1e-9).log()[real].mean()",
        ("test_masked_cross_entropy", "test_masked_cross_entropy_gradients"),
    ),
    loss(
        "loss-smoothed",
        "Labels are smoothed.",
        "The contract's loss is the NLL of the target, and nothing else.",
        """
words = logits.transpose(1, 2)
return F.cross_entropy(words, targets, ignore_index=pad_id, label_smoothing=0.1)""",
    ),
    loss(
        "loss-each",
        "One loss a sentence.",
        "The result has no dimensions.",
        "return (nll * real).sum(1) / real.sum(1).clamp(min=1)",
        ("test_masked_cross_entropy", *SIDE_EFFECTS),
    ),
    loss(
        "loss-of-one",
        "The loss has the shape (1,).",
        "The result has no dimensions: one number, not a list of one.",
        "return nll[real].mean().unsqueeze(0)",
    ),
    loss(
        "loss-item",
        "The loss is a number: .item().",
        GRAPH,
        "return right(logits, targets, pad_id).item()",
    ),
    loss(
        "loss-detached",
        "The loss, without its graph.",
        GRAPH,
        "return right(logits, targets, pad_id).detach()",
        LOSS_GRADIENTS,
    ),
    loss(
        "loss-float32",
        "The loss is float32.",
        DTYPE,
        "return right(logits.float(), targets, pad_id)",
        ("test_masked_cross_entropy", *LOSS_GRADIENTS),
    ),
    loss(
        "loss-targets-in-place",
        "Targets at padding become -100 where they stand.",
        COPY,
        """
targets[targets == pad_id] = -100
return right(logits, targets, -100)""",
        SIDE_EFFECTS,
    ),
    loss(
        "loss-logits-in-place",
        "The largest logit is taken off where it stands.",
        COPY,
        """
logits.data -= logits.data.amax(2, keepdim=True)
return right(logits, targets, pad_id)""",
        SIDE_EFFECTS,
    ),
    loss(
        "loss-squeezed",
        "squeeze() tidies the logits up.",
        SQUEEZE,
        "return F.cross_entropy(logits.squeeze(), targets.squeeze(), ignore_index=pad_id)",
        ("test_masked_cross_entropy",),
    ),
]

ENTRIES = [*MASKS, *SOFTMAXES, *LOSSES]
