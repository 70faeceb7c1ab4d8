"""Right BLEU scores, in the styles that people write."""

from __future__ import annotations

VARIANTS = {
    "fractions": """
import math
from fractions import Fraction

def _segment(candidate, references, n):
    have = [tuple(candidate[i:i + n]) for i in range(len(candidate) - n + 1)]
    match = 0
    for gram in set(have):
        most = max(
            sum(tuple(ref[i:i + n]) == gram for i in range(len(ref) - n + 1)) for ref in references
        )
        match += min(have.count(gram), most)
    return match, len(have)

def _length(candidate, references):
    if not references:
        raise ValueError("no reference")
    c = len(candidate)
    return sorted((abs(len(ref) - c), len(ref)) for ref in references)[0][1]

def _score(fractions, c, r):
    if c == 0:
        penalty = 0.0
    elif c >= r:
        penalty = 1.0
    else:
        penalty = math.exp(1 - Fraction(r, c))
    product = Fraction(1)
    for fraction in fractions:
        product *= fraction
    score = penalty * float(product) ** (1 / len(fractions))
    return Bleu(score, tuple(map(float, fractions)), penalty, c, r)

def corpus_bleu(candidates, references, max_n=4):
    if len(candidates) != len(references):
        raise ValueError("numbers differ")
    fractions = []
    for n in range(1, max_n + 1):
        match = total = 0
        for candidate, refs in zip(candidates, references):
            if not refs:
                raise ValueError("no reference")
            m, t = _segment(candidate, refs, n)
            match, total = match + m, total + t
        fractions.append(Fraction(match, total) if total else Fraction(0))
    c = sum(map(len, candidates))
    return _score(fractions, c, sum(map(_length, candidates, references)))

def sentence_bleu(candidate, references, max_n=4):
    r = _length(candidate, references)
    fractions = []
    for n in range(1, max_n + 1):
        m, t = _segment(candidate, references, n)
        if n > 1 and m == 0:
            m, t = 1, t + 1
        fractions.append(Fraction(m, t) if t else Fraction(0))
    return _score(fractions, len(candidate), r)
""",
    "plain dicts and base-2 logarithms": """
from math import exp, log2

def _dict(tokens, n):
    counts = {}
    start = 0
    while start + n <= len(tokens):
        key = tuple(tokens[start:start + n])
        counts[key] = counts.get(key, 0) + 1
        start += 1
    return counts

def _statistics(candidate, references, max_n):
    if len(references) < 1:
        raise ValueError("each segment needs a reference")
    rows = []
    for n in range(1, max_n + 1):
        limit = {}
        for ref in references:
            for key, value in _dict(ref, n).items():
                if value > limit.get(key, 0):
                    limit[key] = value
        match = total = 0
        for key, value in _dict(candidate, n).items():
            total += value
            match += value if value < limit.get(key, 0) else limit.get(key, 0)
        rows.append([match, total])
    best = None
    for ref in references:
        if best is None:
            best = len(ref)
        new, old = abs(len(ref) - len(candidate)), abs(best - len(candidate))
        if new < old or (new == old and len(ref) < best):
            best = len(ref)
    return rows, len(candidate), best

def _finish(rows, c, r):
    precisions = []
    for match, total in rows:
        if total == 0:
            precisions.append(0.0)
        else:
            precisions.append(match / total)
    bp = 1.0
    if c < r:
        bp = exp(1.0 - r / c) if c > 0 else 0.0
    if c == 0 or min(precisions) == 0:
        return Bleu(0.0, tuple(precisions), bp, c, r)
    log_mean = sum([log2(p) for p in precisions]) / len(precisions)
    return Bleu(bp * 2 ** log_mean, tuple(precisions), bp, c, r)

def corpus_bleu(candidates, references, max_n=4):
    if len(references) != len(candidates):
        raise ValueError(f"{len(candidates)} candidates, {len(references)} references")
    rows, c, r = [[0, 0] for _ in range(max_n)], 0, 0
    for i in range(len(candidates)):
        more, c_i, r_i = _statistics(candidates[i], references[i], max_n)
        for n in range(max_n):
            rows[n][0] += more[n][0]
            rows[n][1] += more[n][1]
        c += c_i
        r += r_i
    return _finish(rows, c, r)

def sentence_bleu(candidate, references, max_n=4):
    rows, c, r = _statistics(candidate, references, max_n)
    for row in rows[1:]:
        if row[0] == 0:
            row[0] += 1
            row[1] += 1
    return _finish(rows, c, r)
""",
    "n-grams by zip, one counter for all orders, natural logarithms": """
import math
from collections import Counter
from functools import reduce
from itertools import chain
from operator import or_

def _all_grams(tokens, N):
    grams = (zip(*(tokens[k:] for k in range(n))) for n in range(1, N + 1))
    return Counter(chain.from_iterable(grams))

def _counts(candidate, references, N):
    if not references:
        raise ValueError("no references")
    have = _all_grams(candidate, N)
    common = have & reduce(or_, [_all_grams(ref, N) for ref in references])
    match, total = [0] * N, [0] * N
    for gram, count in have.items():
        total[len(gram) - 1] += count
        match[len(gram) - 1] += common[gram]
    lengths = sorted(map(len, references))
    r = min(lengths, key=lambda length: abs(length - len(candidate)))
    return match, total, len(candidate), r

def _bleu(match, total, c, r):
    p = tuple(m / t if t > 0 else 0.0 for m, t in zip(match, total))
    bp = (1.0 if c >= r else math.exp(1 - r / c)) if c else float(r == 0)
    if 0 in p:
        return Bleu(score=0.0, precisions=p, brevity_penalty=bp, candidate_length=c,
                    reference_length=r)
    score = bp * math.exp(math.fsum(map(math.log, p)) / len(p))
    return Bleu(score=score, precisions=p, brevity_penalty=bp, candidate_length=c,
                reference_length=r)

def corpus_bleu(candidates, references, max_n=4):
    if len(candidates) != len(references):
        raise ValueError("length mismatch")
    parts = [_counts(a, b, max_n) for a, b in zip(candidates, references)]
    match = [sum(column) for column in zip(*(part[0] for part in parts))]
    total = [sum(column) for column in zip(*(part[1] for part in parts))]
    return _bleu(match, total, sum(p[2] for p in parts), sum(p[3] for p in parts))

def sentence_bleu(candidate, references, max_n=4):
    match, total, c, r = _counts(candidate, references, max_n)
    for n in range(1, max_n):
        if not match[n]:
            match[n], total[n] = 1, total[n] + 1
    return _bleu(match, total, c, r)
""",
    "a class that accumulates": """
import math
from collections import defaultdict

class _Tally:
    def __init__(self, max_n):
        self.max_n, self.c, self.r = max_n, 0, 0
        self.match, self.total = defaultdict(int), defaultdict(int)

    def add(self, candidate, references):
        if len(references) == 0:
            raise ValueError("a segment without references")
        size = len(candidate)
        self.c += size
        self.r += min((len(ref) for ref in references), key=lambda m: (abs(m - size), m))
        for n in range(1, self.max_n + 1):
            mine = self.grams(candidate, n)
            theirs = [self.grams(ref, n) for ref in references]
            for gram, number in mine.items():
                self.match[n] += min(number, max(one.get(gram, 0) for one in theirs))
                self.total[n] += number

    @staticmethod
    def grams(tokens, n):
        found = defaultdict(int)
        for end in range(n, len(tokens) + 1):
            found[repr(list(tokens[end - n:end]))] += 1
        return dict(found)

    def smooth(self):
        for n in range(2, self.max_n + 1):
            if self.match[n] == 0:
                self.match[n] += 1
                self.total[n] += 1

    def result(self):
        p = []
        for n in range(1, self.max_n + 1):
            try:
                p.append(self.match[n] / self.total[n])
            except ZeroDivisionError:
                p.append(0.0)
        if self.c == 0:
            return Bleu(0.0, tuple(p), 0.0, self.c, self.r)
        bp = min(1.0, math.exp(1 - self.r / self.c))
        score = bp
        for value in p:
            score *= value ** (1 / self.max_n)
        return Bleu(score, tuple(p), bp, self.c, self.r)

def corpus_bleu(candidates, references, max_n=4):
    tally = _Tally(max_n)
    for candidate, group in zip(candidates, references, strict=True):
        tally.add(candidate, group)
    return tally.result()

def sentence_bleu(candidate, references, max_n=4):
    tally = _Tally(max_n)
    tally.add(candidate, references)
    tally.smooth()
    return tally.result()
""",
    "matches crossed off one by one": """
import math

def _windows(tokens, n):
    return [tokens[i:i + n] for i in range(max(len(tokens) - n + 1, 0))]

def _match(candidate, references, n):
    stock = []
    for reference in references:
        used = list(stock)
        for gram in _windows(reference, n):
            if gram in used:
                used.remove(gram)
            else:
                stock.append(gram)
    match = 0
    for gram in _windows(candidate, n):
        if gram in stock:
            stock.remove(gram)
            match += 1
    return match

def _r(candidate, references):
    c = len(candidate)
    for distance in range(10**6):
        for length in (c - distance, c + distance):
            if any(len(reference) == length for reference in references):
                return length

def _together(p, c, r):
    if c == 0:
        return Bleu(0.0, p, 0.0, 0, r)
    bp = 1 if c > r else math.e ** (1 - r / c)
    return Bleu(bp * math.prod(p) ** (len(p) ** -1), p, bp, c, r)

def corpus_bleu(candidates, references, max_n=4):
    if len(candidates) - len(references):
        raise ValueError
    if [] in references:
        raise ValueError
    p = ()
    for n in range(1, max_n + 1):
        m = sum(_match(a, b, n) for a, b in zip(candidates, references))
        t = sum(len(_windows(a, n)) for a in candidates)
        p += (m / t if t else 0,)
    c = len(sum(candidates, []))
    return _together(p, c, sum(_r(a, b) for a, b in zip(candidates, references)))

def sentence_bleu(candidate, references, max_n=4):
    if not references:
        raise ValueError
    p = ()
    for n in range(1, max_n + 1):
        m, t = _match(candidate, references, n), len(_windows(candidate, n))
        smooth = int(n > 1 and m == 0)
        p += ((m + smooth) / ((t + smooth) or 1),)
    return _together(p, len(candidate), _r(candidate, references))
""",
    "numpy": """
import numpy as np

def _table(candidate, references, max_n):
    if not references:
        raise ValueError("no reference")
    table = np.zeros((2, max_n), dtype=np.int64)
    for n in range(1, max_n + 1):
        grams = sorted({tuple(text[i:i + n]) for text in [candidate, *references]
                        for i in range(len(text) - n + 1)})
        place = {gram: index for index, gram in enumerate(grams)}
        counts = np.zeros((1 + len(references), len(grams) + 1), dtype=np.int64)
        for row, text in enumerate([candidate, *references]):
            for i in range(len(text) - n + 1):
                counts[row, place[tuple(text[i:i + n])]] += 1
        table[0, n - 1] = np.minimum(counts[0], counts[1:].max(axis=0)).sum()
        table[1, n - 1] = counts[0].sum()
    lengths = np.sort([len(reference) for reference in references])
    closest = lengths[np.abs(lengths - len(candidate)).argmin()]
    return table, len(candidate), closest

def _result(table, c, r):
    matches, totals = table.astype(np.float64)
    p = np.divide(matches, totals, out=np.zeros_like(matches), where=totals > 0)
    bp = 0.0 if c == 0 else np.exp(min(0.0, 1 - r / c))
    score = bp * np.prod(p) ** (1 / p.size)
    return Bleu(float(score), tuple(p.tolist()), float(bp), int(c), int(r))

def corpus_bleu(candidates, references, max_n=4):
    if len(candidates) != len(references):
        raise ValueError("numbers differ")
    tables, cs, rs = zip(*[_table(a, b, max_n) for a, b in zip(candidates, references)])
    return _result(np.sum(tables, axis=0), sum(cs), sum(rs))

def sentence_bleu(candidate, references, max_n=4):
    table, c, r = _table(candidate, references, max_n)
    table[:, 1:] += table[0, 1:] == 0
    return _result(table, c, r)
""",
    "the sentence by way of the corpus's counts": """
import math
from collections import Counter

def _gather(candidates, references, max_n):
    clipped, total, c, r = Counter(), Counter(), 0, 0
    for candidate, group in zip(candidates, references):
        if not list(group):
            raise ValueError("a segment must have a reference")
        c += len(candidate)
        r += min(sorted(len(one) for one in group), key=lambda m: abs(m - len(candidate)))
        for n in range(1, max_n + 1):
            tokens = tuple(candidate)
            mine = Counter(tokens[i:i + n] for i in range(len(tokens) - n + 1))
            total[n] += sum(mine.values())
            for gram in mine:
                most = 0
                for one in map(tuple, group):
                    most = max(most, [one[i:i + n] for i in range(len(one))].count(gram))
                clipped[n] += min(mine[gram], most)
    return clipped, total, c, r

def _make(clipped, total, c, r, max_n):
    orders = range(1, max_n + 1)
    precisions = tuple(clipped[n] / total[n] if total[n] else 0.0 for n in orders)
    if c >= r:
        penalty = 1.0
    else:
        penalty = math.exp(1 - r / c) if c else 0.0
    if c == 0 or not all(precisions):
        return Bleu(0.0, precisions, penalty, c, r)
    weights = [1 / max_n] * max_n
    mean = math.exp(sum(w * math.log(p) for w, p in zip(weights, precisions)))
    return Bleu(penalty * mean, precisions, penalty, c, r)

def corpus_bleu(candidates, references, max_n=4):
    if len(candidates) != len(references):
        raise ValueError("as many candidates as lists of references, please")
    return _make(*_gather(candidates, references, max_n), max_n)

def sentence_bleu(candidate, references, max_n=4):
    clipped, total, c, r = _gather([candidate], [references], max_n)
    for n in range(2, max_n + 1):
        if clipped[n] == 0:
            clipped[n], total[n] = 1, total[n] + 1
    return _make(clipped, total, c, r, max_n)
""",
    "decimals": """
from collections import Counter
from decimal import Decimal, getcontext

def _grams(tokens, n):
    return Counter(map(tuple, (tokens[i:i + n] for i in range(len(tokens) + 1 - n))))

def _pair(candidate, references, n):
    mine, most = _grams(candidate, n), {}
    for one in references:
        for gram, count in _grams(one, n).items():
            most[gram] = max(count, most.get(gram, 0))
    return sum(min(k, most.get(g, 0)) for g, k in mine.items()), sum(mine.values())

def _nearest(candidate, references):
    if references == []:
        raise ValueError("no references")
    c = len(candidate)
    return min(map(len, references), key=lambda m: 2 * abs(m - c) + (m > c))

def _combined(pairs, c, r):
    getcontext().prec = 40
    p = [Decimal(m) / Decimal(t) if t else Decimal(0) for m, t in pairs]
    if c == 0:
        bp = Decimal(0)
    else:
        bp = min(Decimal(1), (1 - Decimal(r) / Decimal(c)).exp())
    score = Decimal(0)
    if all(p):
        score = bp * (sum(x.ln() for x in p) / len(p)).exp()
    return Bleu(float(score), tuple(float(x) for x in p), float(bp), c, r)

def corpus_bleu(candidates, references, max_n=4):
    if len(candidates) != len(references):
        raise ValueError("lengths differ")
    r = sum(_nearest(a, b) for a, b in zip(candidates, references))
    pairs = []
    for n in range(1, max_n + 1):
        found = [_pair(a, b, n) for a, b in zip(candidates, references)]
        pairs.append((sum(m for m, _ in found), sum(t for _, t in found)))
    return _combined(pairs, sum(len(a) for a in candidates), r)

def sentence_bleu(candidate, references, max_n=4):
    r = _nearest(candidate, references)
    pairs = [_pair(candidate, references, n) for n in range(1, max_n + 1)]
    pairs = pairs[:1] + [(m, t) if m else (1, t + 1) for m, t in pairs[1:]]
    return _combined(pairs, len(candidate), r)
""",
}
