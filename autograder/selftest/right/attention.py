"""Right scores, weighted means and decoder steps, in the styles that people write."""

from __future__ import annotations

VARIANTS = {
    "bmm everywhere": """
def dot_score(query, keys):
    return torch.bmm(keys, query.unsqueeze(2)).squeeze(2)
def multiplicative_score(query, keys, weight):
    return torch.bmm(query.unsqueeze(1) @ weight, keys.transpose(1, 2)).squeeze(1)
def additive_score(query, keys, w_query, w_key, v):
    B, S, D = keys.shape
    projected = torch.mm(keys.reshape(B * S, D), w_key.t()).view(B, S, -1)
    hidden = torch.tanh(projected + torch.mm(query, w_query.t())[:, None, :].expand_as(projected))
    return torch.matmul(hidden, v.view(-1, 1)).squeeze(-1)
def attend(scores, values, mask):
    scores = scores.masked_fill(mask, float("-inf"))
    weights = torch.softmax(scores, dim=1)
    return torch.bmm(weights.unsqueeze(1), values).squeeze(1), weights
""",
    "loops over rows and positions": """
def dot_score(query, keys):
    return torch.stack([torch.stack([q @ k for k in row]) for q, row in zip(query, keys)])
def multiplicative_score(query, keys, weight):
    return torch.stack([torch.stack([q @ weight @ k for k in row]) for q, row in zip(query, keys)])
def additive_score(query, keys, w_query, w_key, v):
    rows = []
    for q, row in zip(query, keys):
        rows.append([v @ torch.tanh(w_key @ k + w_query @ q) for k in row])
    return torch.stack([torch.stack(row) for row in rows])
def attend(scores, values, mask):
    contexts, weights = [], []
    for e, h, m in zip(scores, values, mask):
        exp = [torch.zeros_like(s) if p else torch.exp(s - e[~m].max()) for s, p in zip(e, m)]
        alpha = torch.stack([x / sum(exp) for x in exp])
        contexts.append(sum(a * value for a, value in zip(alpha, h)))
        weights.append(alpha)
    return torch.stack(contexts), torch.stack(weights)
""",
    "products and sums": """
def dot_score(query, keys):
    return (query[:, None] * keys).sum(-1)
def multiplicative_score(query, keys, weight):
    return dot_score(query, keys @ weight.T)
def additive_score(query, keys, w_query, w_key, v):
    F = nn.functional
    z = F.linear(keys, w_key) + F.linear(query, w_query).unsqueeze(1)
    return (v * torch.tanh(z)).sum(dim=2)
def attend(scores, values, mask):
    weights = scores.softmax(-1) * (~mask)
    weights = weights / weights.sum(-1, keepdim=True)
    return (weights[..., None] * values).sum(1), weights
def _step(self, y, o_prev, state, memory):
    h, c = self.cell.forward(torch.hstack((y, o_prev)), state)
    context, weights = attend(dot_score(h, memory.keys), memory.values, memory.mask)
    o = self.dropout(torch.tanh(self.combined_output(torch.hstack((context, h)))))
    return o, (h, c), weights
AttentionDecoder.step = _step
""",
    "keys computed again, multiplicative score": """
def _step(self, y, o_prev, state, memory):
    values, _, mask = memory
    state = self.cell(x=torch.cat((y, o_prev), -1), state=state)
    e = multiplicative_score(state[0], values, self.att_projection.weight)
    weights = nn.functional.softmax(e.masked_fill(mask, -1e9), dim=-1)
    context = torch.matmul(weights.unsqueeze(1), values)[:, 0]
    v = self.combined_output(torch.cat((context, state[0]), -1))
    return self.dropout(v.tanh()), state, weights
AttentionDecoder.step = _step
""",
    "dropout by function": """
def _step(self, y, o_prev, state, memory):
    h, c = self.cell(torch.cat([y, o_prev], 1), tuple(state))
    scores = torch.einsum("bh,bsh->bs", h, self.att_projection(memory.values))
    weights = (scores - 1e10 * memory.mask).softmax(1)
    a = torch.einsum("bs,bsd->bd", weights, memory.values)
    u = torch.concat([a, h], axis=1)
    v = torch.tanh(self.combined_output(u))
    o = nn.functional.dropout(v, p=self.dropout.p, training=self.training)
    return o, (h, c), weights
AttentionDecoder.step = _step
""",
    "dropout by hand": """
def _step(self, y, o_prev, state, memory):
    h, c = self.cell(torch.cat([y, o_prev], 1), state)
    a, weights = attend(dot_score(h, memory.keys), memory.values, memory.mask)
    o = torch.tanh(torch.cat([a, h], 1) @ self.combined_output.weight.T)
    if self.training:
        keep = torch.rand(o.shape, dtype=o.dtype) >= self.dropout.p
        o = o * keep / (1 - self.dropout.p)
    return o, (h, c), weights
AttentionDecoder.step = _step
""",
    "other imports": """
import nmt.lstm as L
from nmt import masking
from .masking import masked_softmax as softmax, padding_mask, masked_cross_entropy
from .lstm import LSTMCell as Cell, State
assert L.LSTMCell is Cell is LSTMCell and masking.masked_softmax is softmax
def attend(scores, values, mask):
    weights = masking.masked_softmax(scores=scores, mask=mask)
    return torch.bmm(weights[:, None], values)[:, 0], weights
def _init(self, embedding_size, hidden_size, memory_size, dropout=0.0):
    super(AttentionDecoder, self).__init__()
    self.cell = L.LSTMCell(embedding_size + hidden_size, hidden_size)
    self.att_projection = nn.Linear(memory_size, hidden_size, bias=False)
    self.combined_output = nn.Linear(memory_size + hidden_size, hidden_size, bias=False)
    self.dropout = nn.Dropout(dropout)
AttentionDecoder.__init__ = _init
""",
    "helpers and named results": """
class StepResult(NamedTuple):
    o: Tensor
    state: tuple
    weights: Tensor
class Attended(NamedTuple):
    context: Tensor
    weights: Tensor
def attend(scores, values, mask):
    weights = torch.zeros_like(scores)
    for b in range(scores.shape[0]):
        real = ~mask[b]
        weights[b, real] = torch.softmax(scores[b][real], dim=0)
    context = torch.baddbmm(values.new_zeros(1, 1, 1), weights.unsqueeze(1), values)
    return Attended(context.squeeze(1), weights)
def look(decoder, h, memory):
    scores = dot_score(query=h, keys=memory.keys)
    return attend(scores=scores, values=memory.values, mask=memory.mask)
def _step(self, y, o_prev, state, memory):
    new = self.cell(torch.cat([y, o_prev], dim=-1), state)
    seen = look(self, new[0], memory)
    raw = self.combined_output(torch.cat([seen.context, new[0]], dim=-1))
    return StepResult(self.dropout(torch.tanh(raw)), new, seen.weights)
AttentionDecoder.step = _step
""",
    "float64 inside": """
def dot_score(query, keys):
    return (keys.double() @ query.double().unsqueeze(-1)).squeeze(-1).to(query.dtype)
def additive_score(query, keys, w_query, w_key, v):
    z = torch.einsum("bsd,ad->bsa", keys.double(), w_key.double())
    z = z + torch.einsum("bh,ah->ba", query.double(), w_query.double())[:, None]
    return torch.einsum("bsa,a->bs", z.tanh(), v.double()).to(query.dtype)
def multiplicative_score(query, keys, weight):
    wide = query.double(), weight.double(), keys.double()
    return torch.einsum("bh,hd,bsd->bs", *wide).to(query.dtype)
def attend(scores, values, mask):
    e = torch.exp(scores.double()) * ~mask
    weights = e / e.sum(1, keepdim=True)
    return (weights[:, :, None] * values.double()).sum(1).to(values.dtype), weights.to(values.dtype)
""",
    "vmap over the rows": """
def dot_score(query, keys):
    return torch.vmap(lambda q, k: k @ q)(query, keys)
def multiplicative_score(query, keys, weight):
    return torch.vmap(lambda q, k: k @ (weight.T @ q))(query, keys)
def additive_score(query, keys, w_query, w_key, v):
    return torch.vmap(lambda q, k: torch.tanh(k @ w_key.T + w_query @ q) @ v)(query, keys)
""",
    "the linear layer split in two": """
def _step(self, y, o_prev, state, memory):
    x = y.new_zeros(len(y), y.shape[1] + o_prev.shape[1])
    x[:, :y.shape[1]], x[:, y.shape[1]:] = y, o_prev
    h, c = self.cell(x, state)
    context, weights = attend(multiplicative_score(h, memory.values, self.att_projection.weight),
                              memory.values, memory.mask)
    of_context, of_h = self.combined_output.weight.split([context.shape[1], h.shape[1]], dim=1)
    return self.dropout((context @ of_context.T + h @ of_h.T).tanh()), (h, c), weights
AttentionDecoder.step = _step
""",
}
