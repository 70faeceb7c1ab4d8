"""Right beam searches, in the styles that people write."""

from __future__ import annotations

VARIANTS = {
    "one call of step a hypothesis, and a heap": """
import heapq
import math

def beam_search(step, state, *, bos, eos, beam_size, max_length, alpha=1.0):
    live, finished = [(0.0, (), bos, state)], []
    for n in range(max_length):
        heap = []
        for order, (total, tokens, last, memory) in enumerate(live):
            log_probs, after = step(torch.tensor([last]), memory)
            for token, log_prob in enumerate(log_probs[0].tolist()):
                heapq.heappush(heap, (-(total + log_prob), order, token, tokens, after))
        live = []
        for _ in range(min(beam_size, len(heap))):
            cost, _, token, tokens, after = heapq.heappop(heap)
            if token == eos:
                finished.append(Hypothesis(tokens, -cost, -cost / math.pow(n + 1, alpha)))
            else:
                live.append((-cost, tokens + (token,), token, after))
        if len(finished) >= beam_size or not live:
            break
    if not finished:
        total, tokens, _, _ = live[0]
        return [Hypothesis(tokens, total, total / len(tokens) ** alpha)]
    return heapq.nlargest(beam_size, finished, key=lambda h: h.score)
""",
    "always k rows, the dead ones at minus infinity": """
def beam_search(step, state, *, bos, eos, beam_size, max_length, alpha=1.0):
    k = beam_size
    state = tuple(part.repeat(k, *[1] * (part.dim() - 1)) for part in state)
    tokens = torch.full((k,), bos, dtype=torch.long)
    totals = torch.full((k,), float('-inf'), dtype=torch.float64)
    totals[0] = 0
    history = torch.zeros(k, 0, dtype=torch.long)
    done = []
    for t in range(1, max_length + 1):
        log_probs, state = step(tokens, state)
        V = log_probs.size(-1)
        scores = (log_probs.double() + totals[:, None]).view(-1)
        totals, index = scores.topk(k)
        rows = torch.div(index, V, rounding_mode='floor')
        tokens = index.remainder(V)
        history = torch.cat((history[rows], tokens[:, None]), 1)
        state = tuple(part.index_select(0, rows) for part in state)
        for j in range(k):
            if tokens[j] == eos and totals[j] > float('-inf'):
                total = float(totals[j])
                done.append(Hypothesis(tuple(history[j, :-1].tolist()), total, total / t**alpha))
                totals[j] = float('-inf')
        if len(done) >= k or torch.isinf(totals).all():
            break
    if not done:
        j = int(totals.argmax())
        total = totals[j].item()
        done = [Hypothesis(tuple(history[j].tolist()), total, total / t**alpha)]
    return sorted(done, key=lambda h: -h.score)[:k]
""",
    "nodes that point back": """
from dataclasses import dataclass
from typing import Any

@dataclass
class Node:
    token: int
    total: float
    length: int
    parent: Any

    def words(self):
        node, words = self, []
        while node.parent is not None:
            words.insert(0, node.token)
            node = node.parent
        return words

def beam_search(step, state, *, bos, eos, beam_size, max_length, alpha=1.0):
    beam, ended = [Node(bos, 0.0, 0, None)], []
    while beam and len(ended) < beam_size and beam[0].length < max_length:
        log_probs, state = step(torch.LongTensor([node.token for node in beam]), state)
        children = []
        for row, node in enumerate(beam):
            values, ids = log_probs[row].sort(descending=True)
            for value, token in list(zip(values.tolist(), ids.tolist()))[:beam_size]:
                children.append((row, Node(token, node.total + value, node.length + 1, node)))
        children.sort(key=lambda child: child[1].total, reverse=True)
        children = children[:beam_size]
        ended += [node for _, node in children if node.token == eos]
        rows = [row for row, node in children if node.token != eos]
        beam = [node for _, node in children if node.token != eos]
        state = tuple(torch.stack([part[row] for row in rows]) for part in state) if rows else state
    def hypothesis(node):
        words = node.words()
        if words and words[-1] == eos:
            words = words[:-1]
        return Hypothesis(tuple(words), node.total, node.total * node.length ** -alpha)
    found = [hypothesis(node) for node in ended] or [hypothesis(beam[0])]
    found.sort(key=lambda h: h.score)
    return found[::-1][:beam_size]
""",
    "each prefix from the start, the state never reordered": """
def beam_search(step, state, *, bos, eos, beam_size, max_length, alpha=1.0):
    def next_log_probs(prefix):
        memory = state
        for token in (bos, *prefix):
            log_probs, memory = step(torch.tensor([token]), memory)
        return log_probs.squeeze(0)

    live, finished = {(): 0.0}, {}
    for n in range(1, max_length + 1):
        grown = {}
        for prefix, total in live.items():
            for token, log_prob in enumerate(next_log_probs(prefix)):
                grown[prefix + (token,)] = total + log_prob.item()
        kept = sorted(grown, key=grown.get, reverse=True)[:beam_size]
        finished.update({p[:-1]: (grown[p], n) for p in kept if p[-1] == eos})
        live = {p: grown[p] for p in kept if p[-1] != eos}
        if len(finished) >= beam_size or not live:
            break
    if not finished:
        best = max(live, key=live.get)
        finished = {best: (live[best], n)}
    ranked = [Hypothesis(p, total, total / n**alpha) for p, (total, n) in finished.items()]
    ranked.sort(key=lambda h: h.score, reverse=True)
    return ranked[:beam_size]
""",
    "in place on log_probs, without gradients": """
@torch.inference_mode()
def beam_search(step, state, *, bos, eos, beam_size, max_length, alpha=1.0):
    finished, sequences = [], torch.empty(1, 0, dtype=torch.int64)
    last, sums = torch.tensor([bos]), torch.zeros(1, 1)
    for t in range(1, max_length + 1):
        log_probs, state = step(last, tuple(state))
        log_probs += sums
        n, V = log_probs.shape
        order = torch.argsort(log_probs.reshape(n * V), descending=True)[:beam_size]
        rows, words = zip(*(divmod(i, V) for i in order.tolist()))
        rows, words = torch.tensor(rows), torch.tensor(words)
        sums = log_probs.view(-1)[order].unsqueeze(1)
        sequences = torch.hstack((sequences[rows], words.unsqueeze(1)))
        state = [part[rows] for part in state]
        over = words.eq(eos)
        for sequence, total in zip(sequences[over], sums[over]):
            value = total.item()
            finished.append(Hypothesis(tuple(sequence[:-1].tolist()), value, value / t**alpha))
        keep = over.logical_not()
        last, sums, sequences = words[keep], sums[keep], sequences[keep]
        state = [part[keep] for part in state]
        if len(finished) >= beam_size or keep.sum() == 0:
            break
    else:
        if not finished:
            value = float(sums.max())
            best = sequences[sums.squeeze(1).argmax()]
            finished.append(Hypothesis(tuple(best.tolist()), value, value / t**alpha))
    finished.sort(key=lambda h: h.score, reverse=True)
    return finished[:beam_size]
""",
    "recursion": """
def beam_search(step, state, *, bos, eos, beam_size, max_length, alpha=1.0):
    def score(words, total, n):
        return Hypothesis(words, total, total / (n ** alpha))

    def go_on(live, finished, state, n):
        if n == max_length or not live or len(finished) >= beam_size:
            return finished or [score(*max(live, key=lambda h: h[1]), n)]
        last = torch.tensor([words[-1] if words else bos for words, _ in live])
        log_probs, state = step(last, state)
        options = [
            (total + float(log_probs[i, v]), i, v)
            for i, (_, total) in enumerate(live)
            for v in range(log_probs.shape[1])
        ]
        options = sorted(options, key=lambda option: -option[0])[:beam_size]
        ended = [(total, i) for total, i, v in options if v == eos]
        alive = [(total, i, v) for total, i, v in options if v != eos]
        finished = finished + [score(live[i][0], total, n + 1) for total, i in ended]
        rows = torch.tensor([i for _, i, _ in alive], dtype=torch.long)
        return go_on(
            [(live[i][0] + (v,), total) for total, i, v in alive],
            finished,
            tuple(part[rows] for part in state),
            n + 1,
        )

    results = go_on([((), 0.0)], [], state, 0)
    return sorted(results, key=lambda h: h.score, reverse=True)[:beam_size]
""",
    "log-probabilities normalised once more, top k of each row first": """
import math

def beam_search(step, state, *, bos, eos, beam_size, max_length, alpha=1.0):
    prefixes, sums = [[bos]], [0.0]
    complete = []
    for _ in range(max_length):
        tokens = torch.tensor([prefix[-1] for prefix in prefixes])
        log_probs, state = step(tokens, state)
        log_probs = torch.log_softmax(log_probs.double(), dim=-1)
        values, ids = torch.topk(log_probs, k=min(beam_size, log_probs.size(1)), sorted=False)
        pool = []
        for row in range(len(prefixes)):
            for value, token in zip(values[row], ids[row]):
                pool.append((math.fsum([sums[row], value.item()]), row, int(token)))
        pool = sorted(pool, reverse=True)[:beam_size]
        new_prefixes, new_sums, rows = [], [], []
        for total, row, token in pool:
            prefix = list(prefixes[row])
            prefix.append(token)
            if token == eos:
                complete.append((prefix, total))
            else:
                new_prefixes.append(prefix)
                new_sums.append(total)
                rows.append(row)
        prefixes, sums = new_prefixes, new_sums
        if not prefixes or len(complete) >= beam_size:
            break
        state = tuple(torch.cat([part[row:row + 1] for row in rows]) for part in state)
    if complete:
        out = [
            Hypothesis(tuple(p[1:-1]), total, total / (len(p) - 1) ** alpha)
            for p, total in complete
        ]
    else:
        total = max(sums)
        prefix = prefixes[sums.index(total)]
        out = [Hypothesis(tuple(prefix[1:]), total, total / (len(prefix) - 1) ** alpha)]
    out.sort(key=lambda h: -h.score)
    del out[beam_size:]
    return out
""",
    "numpy for the selection, the last step's state kept": """
import numpy as np

def beam_search(step, state, *, bos, eos, beam_size, max_length, alpha=1.0):
    words, totals = np.zeros((1, 0), dtype=np.int64), np.zeros(1)
    last, results = np.array([bos]), []
    for t in range(1, max_length + 1):
        log_probs, state = step(torch.from_numpy(last), state)
        table = totals[:, None] + log_probs.detach().numpy().astype(np.float64)
        order = np.argsort(-table, axis=None, kind='stable')[:beam_size]
        rows, last = np.unravel_index(order, table.shape)
        totals, words = table[rows, last], np.column_stack((words[rows], last))
        ended = last == eos
        results += [
            (tuple(int(w) for w in line[:-1]), float(total), t)
            for line, total in zip(words[ended], totals[ended])
        ]
        rows, last, totals, words = rows[~ended], last[~ended], totals[~ended], words[~ended]
        state = tuple(part[torch.as_tensor(rows)] for part in state)
        if len(results) >= beam_size or last.size == 0:
            break
    if not results:
        best = int(totals.argmax())
        results = [(tuple(words[best].tolist()), float(totals[best]), t)]
    ranked = sorted(results, key=lambda r: r[1] / r[2] ** alpha, reverse=True)[:beam_size]
    return [Hypothesis(tokens, total, total / n**alpha) for tokens, total, n in ranked]
""",
    "more rows a call of step than it needs": """
def beam_search(step, state, *, bos, eos, beam_size, max_length, alpha=1.0):
    class Beam:
        def __init__(self):
            self.rows = [((), 0.0, tuple(part.clone() for part in state), bos)]
            self.done = []

        def grow(self, t):
            wide = [torch.cat([row[2][i] for row in self.rows]) for i in range(len(state))]
            n = len(self.rows)
            last = torch.tensor([row[3] for row in self.rows] * 2)
            log_probs, after = step(last, tuple(torch.cat((part, part)) for part in wide))
            best = []
            for i in range(n):
                for v in range(log_probs.shape[1]):
                    best.append((self.rows[i][1] + log_probs[n + i, v].item(), i, v))
                    best.sort(reverse=True)
                    del best[beam_size:]
            rows = []
            for total, i, v in best:
                if v == eos:
                    self.done.append(Hypothesis(self.rows[i][0], total, total / t**alpha))
                    continue
                mine = tuple(part[i].unsqueeze(0) for part in after)
                rows.append((self.rows[i][0] + (v,), total, mine, v))
            self.rows = rows

        def ranked(self):
            return sorted(self.done, key=lambda h: h.score, reverse=True)[:beam_size]

    beam = Beam()
    t = 0
    while t < max_length and len(beam.done) < beam_size and beam.rows:
        t += 1
        beam.grow(t)
    if not beam.done:
        tokens, total, _, _ = beam.rows[0]
        return [Hypothesis(tokens, total, total / t**alpha)]
    return beam.ranked()
""",
}
