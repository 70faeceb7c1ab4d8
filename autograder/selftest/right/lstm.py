"""Right LSTM cells, in the styles that people write."""

from __future__ import annotations

VARIANTS = {
    "one product a gate, rows by slices": """
def _forward(self, x, state):
    h, c = state
    H = self.hidden_size
    def gate(k, squash):
        rows = slice(k * H, (k + 1) * H)
        return squash(x @ self.weight_ih[rows].t() + self.bias_ih[rows]
                      + h @ self.weight_hh[rows].t() + self.bias_hh[rows])
    squashing = torch.sigmoid, torch.sigmoid, torch.tanh, torch.sigmoid
    i, f, g, o = (gate(k, s) for k, s in enumerate(squashing))
    c_new = torch.add(torch.mul(f, c), torch.mul(i, g))
    return torch.mul(o, torch.tanh(c_new)), c_new
LSTMCell.forward = _forward
""",
    "input and state side by side": """
def _forward(self, x, state):
    h, c = state
    weight = torch.cat((self.weight_ih, self.weight_hh), 1)
    z = torch.cat((x, h), 1).mm(weight.t()) + (self.bias_ih + self.bias_hh)
    i, f, g, o = torch.split(z, self.hidden_size, dim=-1)
    new = torch.sigmoid(i) * torch.tanh(g)
    new = new + torch.sigmoid(f) * c
    return (torch.tanh(new) * torch.sigmoid(o), new)
LSTMCell.forward = _forward
""",
    "einsum and view": """
def _forward(self, x, state):
    (h, c), (B, I) = state, x.shape
    w, u = self.weight_ih.view(4, -1, I), self.weight_hh.view(4, -1, h.shape[1])
    z = torch.einsum("khi,bi->bkh", w, x) + torch.einsum("khj,bj->bkh", u, h)
    z = z + self.bias_ih.view(1, 4, -1) + self.bias_hh.view(1, 4, -1)
    i, f, o = z[:, [0, 1, 3]].sigmoid().unbind(1)
    c = f * c + i * z[:, 2].tanh()
    return o * c.tanh(), c
LSTMCell.forward = _forward
""",
    "loops over rows and units": """
def _forward(self, x, state):
    hs, cs = [], []
    for b in range(x.size(0)):
        h, c = state[0][b], state[1][b]
        z = []
        for r in range(4 * self.hidden_size):
            z.append(self.weight_ih[r].dot(x[b]) + self.bias_ih[r])
            z[r] = z[r] + self.weight_hh[r].dot(h) + self.bias_hh[r]
        row_h, row_c = [], []
        for u in range(self.hidden_size):
            i, f, g, o = z[u::self.hidden_size]
            row_c.append(f.sigmoid() * c[u] + i.sigmoid() * g.tanh())
            row_h.append(o.sigmoid() * row_c[-1].tanh())
        hs.append(torch.stack(row_h))
        cs.append(torch.stack(row_c))
    return torch.stack(hs), torch.stack(cs)
LSTMCell.forward = _forward
""",
    "in float64 inside": """
def _forward(self, x, state):
    h, c = (part.double() for part in state)
    z = F.linear(x.double(), self.weight_ih.double(), self.bias_ih.double())
    z = z + F.linear(h, self.weight_hh.double(), self.bias_hh.double())
    i, f, g, o = z.chunk(4, 1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return (o.sigmoid() * c.tanh()).to(x.dtype), c.to(x.dtype)
LSTMCell.forward = _forward
""",
    "squashing by hand": """
def sigmoid(z):
    return 1 / (1 + torch.exp(-z))
def tanh(z):
    return 2 * sigmoid(2 * z) - 1
def _forward(self, x, state):
    h, c = state
    z = self.weight_ih @ x.T + (self.weight_hh @ h.T) + (self.bias_ih + self.bias_hh)[:, None]
    i, f, g, o = (part.T for part in z.chunk(4))
    c = sigmoid(f) * c + sigmoid(i) * tanh(g)
    return sigmoid(o) * tanh(c), c
LSTMCell.forward = _forward
""",
    "in place, on tensors of its own": """
def _forward(self, x, state):
    h, c = state[0].clone(), state[1].clone()
    z = torch.addmm(self.bias_ih, x, self.weight_ih.t())
    z += torch.addmm(self.bias_hh, h, self.weight_hh.t())
    n = self.hidden_size
    i, f = z[:, :n].sigmoid(), z[:, n:2 * n].sigmoid()
    g, o = z[:, 2 * n:3 * n].tanh(), z[:, 3 * n:].sigmoid()
    c = c * f
    c += i * g
    return o * c.tanh(), c
LSTMCell.forward = _forward
""",
    "vmap over the rows": """
def _forward(self, x, state):
    def row(x, h, c):
        z = self.weight_ih.mv(x) + self.bias_ih + self.weight_hh.mv(h) + self.bias_hh
        i, f, g, o = z.chunk(4)
        c = c * f.sigmoid() + i.sigmoid() * g.tanh()
        return c.tanh() * o.sigmoid(), c
    return torch.vmap(row)(x, *state)
LSTMCell.forward = _forward
""",
    "modules, helpers and a named result": """
from typing import NamedTuple
class Result(NamedTuple):
    h: Tensor
    c: Tensor
SIGMOID, TANH = nn.Sigmoid(), nn.Tanh()
def pre_activations(self, x, h):
    return F.linear(x, self.weight_ih, self.bias_ih) + F.linear(h, self.weight_hh, self.bias_hh)
def _forward(self, x, state):
    h_prev, c_prev = state
    parts = pre_activations(self, x, h_prev).reshape(-1, 4, self.hidden_size)
    i, f, g, o = parts[:, 0, :], parts[:, 1, :], parts[:, 2, :], parts[:, 3, :]
    cell = torch.addcmul(SIGMOID(f) * c_prev, SIGMOID(i), TANH(g))
    return Result(h=SIGMOID(o) * TANH(cell), c=cell)
LSTMCell.forward = _forward
""",
    "another initialisation": """
given = LSTMCell.__init__
def _init(self, input_size, hidden_size):
    given(self, input_size, hidden_size)
    nn.init.orthogonal_(self.weight_hh)
    nn.init.xavier_uniform_(self.weight_ih)
    nn.init.zeros_(self.bias_ih)
    nn.init.zeros_(self.bias_hh)
    with torch.no_grad():
        self.bias_ih[hidden_size:2 * hidden_size] = 1.0
LSTMCell.__init__ = _init
""",
    "gradients of its own": """
class Step(torch.autograd.Function):
    @staticmethod
    def forward(ctx, z, c):
        i, f, g, o = z.chunk(4, 1)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        new = f * c + i * g
        ctx.save_for_backward(i, f, g, o, c, new)
        return o * new.tanh(), new
    @staticmethod
    def backward(ctx, dh, dc):
        i, f, g, o, c, new = ctx.saved_tensors
        t = new.tanh()
        dc = dc + dh * o * (1 - t * t)
        di, df = dc * g * i * (1 - i), dc * c * f * (1 - f)
        dg, do = dc * i * (1 - g * g), dh * t * o * (1 - o)
        return torch.cat([di, df, dg, do], 1), dc * f
def _forward(self, x, state):
    z = F.linear(x, self.weight_ih, self.bias_ih) + F.linear(state[0], self.weight_hh, self.bias_hh)
    return Step.apply(z, state[1])
LSTMCell.forward = _forward
""",
}
