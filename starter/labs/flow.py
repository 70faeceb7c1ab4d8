"""Lab 2's cells, untrained: do they agree with torch's, and how much gradient comes through?"""

import time

import torch
from torch import Tensor, nn

from labs import cells
from labs.part import Context, Figures, Settings
from nmt.lstm import LSTMCell


def agreement(settings: Settings, seed: int, context: Context) -> Figures:
    """Run a cell beside torch's with the same weights over a batch of sequences."""
    torch.manual_seed(seed)
    inputs, kind = torch.randn(20, 8, 5), settings["cell"]  # (T, B, I)
    if kind == "LSTM":
        theirs: nn.Module = nn.LSTMCell(5, 4)
        ours: nn.Module = LSTMCell(5, 4)
        ours.load_state_dict(theirs.state_dict())
    elif kind == "GRU":
        theirs = nn.GRUCell(5, 4)
        ours = cells.gru_from_torch(theirs)
    else:
        theirs = nn.RNNCell(5, 4)
        ours = cells.RNNCell(5, 4)
        ours.load_state_dict(theirs.state_dict())
    error = (torch_states(theirs, inputs) - our_states(ours, inputs)).abs().max().item()
    counts = [
        cells.parameters(cells.make(kind, None, *sizes), biases)
        for sizes in settings["sizes"]
        for biases in (2, 1)
    ]
    return {"error": error, "parameters": counts}


def our_states(cell: nn.Module, inputs: Tensor) -> Tensor:
    """Return h (T, B, H) after each input."""
    return torch.stack([state[0] for state in cells.unroll(cell, inputs)])


def torch_states(cell: nn.Module, inputs: Tensor) -> Tensor:
    """Return h (T, B, H) of one of torch's cells, whose state is a tuple only for the LSTM."""
    state, states = None, []
    for x in inputs:
        state = cell(x, state)
        states.append(state[0] if isinstance(state, tuple) else state)
    return torch.stack(states)


def jacobian(settings: Settings, seed: int, context: Context) -> Figures:
    """Measure the norm of ∂h_T/∂x_1 (H, I) of an untrained cell, for several T."""
    torch.manual_seed(seed)
    cell = cells.make(settings["cell"], settings["bias"], settings["input"], settings["hidden"])
    inputs = torch.randn(max(settings["lengths"]), 1, settings["input"])
    first = inputs[0].expand(settings["hidden"], -1).clone().requires_grad_()
    # A row of the batch for each entry of h: the gradient of the sum of h_jj is the whole Jacobian.
    rows = [first, *(x.expand(settings["hidden"], -1) for x in inputs[1:])]
    states = cells.unroll(cell, rows)
    norms = []
    for number, length in enumerate(settings["lengths"], start=1):
        diagonal = states[length - 1][0].diagonal().sum()
        (gradient,) = torch.autograd.grad(diagonal, first, retain_graph=True)
        norms.append(gradient.double().norm().item())
        context.progress(number / len(settings["lengths"]))
    return {"norms": norms}


def speed(settings: Settings, seed: int, context: Context) -> Figures:
    """Time a step of training through the cell and through torch's fused layer, in turns."""
    torch.manual_seed(seed)
    length, batch, width, hidden = (settings[n] for n in ("length", "batch", "input", "hidden"))
    cell, layer = LSTMCell(width, hidden), nn.LSTM(width, hidden)
    inputs = torch.randn(length, batch, width)
    ours, theirs = [], []
    for repeat in range(settings["repeats"]):
        ours.append(_timed(cell, inputs))
        theirs.append(_timed(layer, inputs))
        context.progress((repeat + 1) / settings["repeats"])
    return {"ours": min(ours), "theirs": min(theirs)}  # what the machine can; the rest is others'


def _timed(module: nn.Module, inputs: Tensor) -> float:
    """Return the seconds of one run forwards and backwards."""
    started = time.process_time()
    if isinstance(module, nn.LSTM):
        last = module(inputs)[0][-1]
    else:
        last = cells.unroll(module, inputs.unbind())[-1][0]
    last.sum().backward()
    return time.process_time() - started
