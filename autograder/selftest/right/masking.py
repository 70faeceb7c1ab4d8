"""Right masks, masked softmaxes and masked losses, in the styles that people write."""

from __future__ import annotations

VARIANTS = {
    "loops": """
def padding_mask(lengths, max_length):
    rows = []
    for n in lengths.tolist():
        if not 1 <= n <= max_length:
            raise ValueError(f"length {n}")
        rows.append([False] * n + [True] * (max_length - n))
    return torch.tensor(rows, device=lengths.device)
def masked_softmax(scores, mask):
    rows = []
    for row, padded in zip(scores, mask):
        top = row[~padded].max()
        e = [torch.zeros_like(s) if p else (s - top).exp() for s, p in zip(row, padded)]
        rows.append(torch.stack([v / sum(e) for v in e]))
    return torch.stack(rows)
def masked_cross_entropy(logits, targets, pad_id):
    total, count = 0, 0
    for b in range(targets.shape[0]):
        for t in range(targets.shape[1]):
            if targets[b, t] != pad_id:
                total = total + torch.logsumexp(logits[b, t], 0) - logits[b, t, targets[b, t]]
                count += 1
    return total / count
""",
    "softmax, mask, renormalise; log of softmax": """
def padding_mask(lengths, max_length):
    if lengths.min() < 1 or lengths.max() > max_length:
        raise ValueError("bad length")
    positions = torch.arange(max_length).to(lengths.device)
    return ~(positions[None, :] < lengths[:, None])
def masked_softmax(scores, mask):
    weights = torch.softmax(scores, dim=-1) * (~mask).to(scores.dtype)
    return weights / weights.sum(dim=-1, keepdim=True)
def masked_cross_entropy(logits, targets, pad_id):
    p = torch.softmax(logits, dim=-1)
    nll = -torch.log(torch.gather(p, 2, targets[:, :, None])).squeeze(-1)
    real = (targets != pad_id).to(logits.dtype)
    return (nll * real).sum() / real.sum()
""",
    "fill of -1e9; ignore_index": """
def padding_mask(lengths, max_length):
    if torch.any(lengths <= 0) or torch.any(lengths > max_length):
        raise ValueError
    mask = torch.ones(lengths.size(0), max_length, dtype=torch.bool, device=lengths.device)
    for row, n in zip(mask, lengths):
        row[:n] = False
    return mask
def masked_softmax(scores, mask):
    return F.softmax(torch.where(mask, torch.full_like(scores, -1e9), scores), dim=1)
def masked_cross_entropy(logits, targets, pad_id):
    return nn_loss(pad_id)(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))
def nn_loss(pad_id):
    return torch.nn.CrossEntropyLoss(ignore_index=pad_id)
""",
    "added penalty; nll_loss": """
class LengthError(ValueError):
    pass
def padding_mask(lengths, max_length):
    for n in lengths:
        if n < 1 or n > max_length:
            raise LengthError(f"{int(n)} is not in 1..{max_length}")
    return F.one_hot(lengths, max_length + 1).cumsum(1)[:, :max_length].bool()
def masked_softmax(scores, mask):
    return (scores - 1e9 * mask.to(scores.dtype)).softmax(dim=1)
def masked_cross_entropy(logits, targets, pad_id):
    log_probs = logits.log_softmax(-1)
    total = F.nll_loss(log_probs.transpose(1, 2), targets, ignore_index=pad_id, reduction="sum")
    return total / (targets != pad_id).sum()
""",
    "exponentials without a maximum; one-hot targets": """
def padding_mask(lengths, max_length):
    if not bool(((lengths >= 1) & (lengths <= max_length)).all()):
        raise ValueError("each length must be in 1..max_length")
    return torch.ones(len(lengths), max_length, device=lengths.device).cumsum(1) > lengths[:, None]
def masked_softmax(scores, mask):
    e = torch.exp(scores).masked_fill(mask, 0)
    return e / e.sum(1, keepdim=True)
def masked_cross_entropy(logits, targets, pad_id):
    one_hot = F.one_hot(targets, logits.shape[2]).to(logits.dtype)
    one_hot = one_hot * (targets != pad_id).unsqueeze(-1)
    return -(one_hot * torch.log_softmax(logits, dim=2)).sum() / one_hot.sum()
""",
    "torch.masked; selected rows": """
def padding_mask(lengths, max_length):
    if lengths.lt(1).any() or lengths.gt(max_length).any():
        raise ValueError(f"{lengths}")
    positions = torch.arange(1, max_length + 1, device=lengths.device)
    return positions.expand(len(lengths), -1) > lengths.view(-1, 1)
def masked_softmax(scores, mask):
    return torch.masked.softmax(scores, 1, mask=mask.logical_not())
def masked_cross_entropy(logits, targets, pad_id):
    real = targets.ne(pad_id)
    return F.cross_entropy(logits[real], targets[real])
""",
    "float64 inside; index arithmetic": """
def padding_mask(lengths, max_length):
    low, high = int(lengths.min()), int(lengths.max())
    if low < 1 or high > max_length:
        raise ValueError(f"lengths from {low} to {high}")
    mask = lengths.new_zeros((lengths.numel(), max_length)).bool()
    for i in range(lengths.numel()):
        mask[i, lengths[i]:] = True
    return mask
def masked_softmax(scores, mask):
    wide = scores.double().masked_fill(mask, torch.finfo(torch.float64).min)
    e = (wide - wide.max(dim=1, keepdim=True)[0]).exp()
    return (e / e.sum(dim=1).unsqueeze(1)).to(scores.dtype)
def masked_cross_entropy(logits, targets, pad_id):
    B, T, V = logits.shape
    flat = logits.double().reshape(B * T, V)
    picked = flat[torch.arange(B * T), targets.reshape(-1)]
    nll = torch.logsumexp(flat, dim=1) - picked
    keep = (targets.reshape(-1) != pad_id).nonzero().squeeze(1)
    return nll[keep].mean().to(logits.dtype)
""",
    "vmap; in place on tensors of its own": """
def padding_mask(lengths, max_length):
    if (lengths.clamp(1, max_length) != lengths).any():
        raise ValueError("out of range")
    positions = torch.arange(max_length, device=lengths.device)
    return torch.vmap(lambda n: positions >= n)(lengths)
def masked_softmax(scores, mask):
    filled = scores.clone()
    filled[mask] = float("-inf")
    return torch.nn.Softmax(dim=1)(filled)
def masked_cross_entropy(logits, targets, pad_id):
    labels = targets.clone()
    labels[labels == pad_id] = -100
    return F.cross_entropy(logits.permute(0, 2, 1), labels)
""",
    "numpy masks; softmax of each row's real scores": """
import numpy
def padding_mask(lengths, max_length):
    sizes = lengths.cpu().numpy()
    if sizes.min() < 1 or sizes.max() > max_length:
        raise ValueError("lengths")
    return torch.from_numpy(numpy.arange(max_length)[None] >= sizes[:, None]).to(lengths.device)
def masked_softmax(scores, mask):
    result = torch.zeros_like(scores)
    for b in range(len(scores)):
        result[b, ~mask[b]] = scores[b, ~mask[b]].softmax(0)
    return result
def masked_cross_entropy(logits, targets, pad_id):
    weight = torch.ones(logits.shape[2], dtype=logits.dtype)
    weight[pad_id] = 0
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), weight=weight)
""",
    "log-space": """
def masked_softmax(scores, mask):
    log_z = torch.logsumexp(scores.masked_fill(mask, -float("inf")), dim=1, keepdim=True)
    weights = torch.exp(torch.where(mask, log_z, scores) - log_z)
    return torch.where(mask, torch.zeros_like(scores), weights)
def masked_cross_entropy(logits, targets, pad_id):
    mask = targets == pad_id
    nll = F.cross_entropy(logits.transpose(1, 2), targets, reduction="none").masked_fill(mask, 0.0)
    return nll.sum() / (~mask).sum().item()
""",
    "implicit dimension": """
def masked_softmax(scores, mask):
    return F.softmax(scores.masked_fill(mask, -1e30))
""",
    "a fill of -1e4": """
def masked_softmax(scores, mask):
    return scores.masked_fill(mask, -1e4).softmax(-1)
""",
    "mask by TorchScript after eager checks": """
@torch.jit.script
def _later(lengths: Tensor, width: int) -> Tensor:
    return torch.arange(width, device=lengths.device).unsqueeze(0) >= lengths.unsqueeze(1)

def padding_mask(lengths, max_length):
    if bool((lengths < 1).any()) or bool((lengths > max_length).any()):
        raise ValueError("lengths must be from 1 to max_length")
    return _later(lengths, max_length)
""",
    "mask moved by the number of the device": """
def padding_mask(lengths, max_length):
    if any(n < 1 or n > max_length for n in lengths.tolist()):
        raise ValueError("lengths must be from 1 to max_length")
    positions, number = torch.arange(max_length), lengths.get_device()
    if number >= 0:
        positions = positions.to(number)
    return positions >= lengths[:, None]
""",
}
