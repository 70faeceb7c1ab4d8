"""Mistakes in beam search, each one edit or two away from a right search."""

from __future__ import annotations

from autograder.misconceptions.entry import CatalogueError, Misconception

SEARCH = """
def beam_search(step, state, *, bos, eos, beam_size, max_length, alpha=1.0):
    finished = []
    live = [()]
    tokens = torch.tensor([bos])
    totals = torch.zeros(1)
    for length in range(1, max_length + 1):
        log_probs, state = step(tokens, state)
        size = log_probs.shape[1]
        extended = totals.unsqueeze(1) + log_probs
        totals, best = extended.flatten().topk(min(beam_size, extended.numel()))
        parents, tokens = best // size, best % size
        rows, live_totals, live_tokens, hypotheses = [], [], [], []
        for parent, token, total in zip(parents.tolist(), tokens.tolist(), totals.tolist()):
            history = live[parent] + (token,)
            if token == eos:
                finished.append((history[:-1], total, length))
            else:
                rows.append(parent)
                live_totals.append(total)
                live_tokens.append(token)
                hypotheses.append(history)
        live, totals = hypotheses, torch.tensor(live_totals)
        if len(finished) >= beam_size or not live:
            break
        tokens = torch.tensor(live_tokens)
        state = tuple(part[rows] for part in state)
    if not finished:
        finished = [(live[0], totals[0].item(), length)]
    results = [Hypothesis(tokens, total, total / n**alpha) for tokens, total, n in finished]
    results.sort(key=lambda hypothesis: hypothesis.score, reverse=True)
    return results[:beam_size]
"""

# What breaks the list of nearly every search fails every test.
ALWAYS = (
    *("test_by_hand", "test_n_best", "test_state_follows", "test_length_normalisation"),
    *("test_beam_sizes", "test_max_length", "test_no_token_is_banned", "test_types_and_inputs"),
)


def edited(*edits: tuple[str, str]) -> str:
    """Return the search with parts of its text replaced; each part must occur, once."""
    text = SEARCH
    for old, new in edits:
        if text.count(old) != 1:
            raise CatalogueError(f"{old!r} occurs {text.count(old)} times in the search, not once")
        text = text.replace(old, new)
    return text


def entry(
    name: str, belief: str, advice: str, *edits: tuple[str, str], caught_by: tuple[str, ...]
) -> Misconception:
    """Make an entry out of edits."""
    return Misconception(f"beam-{name}", "beam", belief, advice, edited(*edits), caught_by)


EXTENDED = "extended = totals.unsqueeze(1) + log_probs"
TOPK = "totals, best = extended.flatten().topk(min(beam_size, extended.numel()))"
PICK = "state = tuple(part[rows] for part in state)"
RESULT = "Hypothesis(tokens, total, total / n**alpha)"
STOP = "if len(finished) >= beam_size or not live:"
FINISH = "finished.append((history[:-1], total, length))"
UNFINISHED = "finished = [(live[0], totals[0].item(), length)]"
CUT = "return results[:beam_size]"
SORT = "results.sort(key=lambda hypothesis: hypothesis.score, reverse=True)"

ENTRIES = [
    # --- Scores ---
    entry(
        "probabilities",
        "Hypotheses are compared by their probability, so log_prob holds the probability.",
        "log_prob is the SUM of log-probabilities, a negative number.",
        (RESULT, "Hypothesis(tokens, math.exp(total), math.exp(total) / n**alpha)"),
        ("def beam_search", "import math\n\ndef beam_search"),
        caught_by=ALWAYS,
    ),
    entry(
        "multiplies-probabilities",
        "Probabilities can be multiplied, and the logarithm taken afterwards.",
        "A product of many probabilities is 0 in float32: sum their logarithms.",
        (EXTENDED, "extended = (totals.exp().unsqueeze(1) * log_probs.exp()).log()"),
        caught_by=("test_max_length",),
    ),
    entry(
        "normalises-every-step",
        "Hypotheses are normalised at every step, and the normalised value is carried on.",
        "Sum plain log-probabilities during the search; divide once, at the end.",
        (EXTENDED, "extended = (totals.unsqueeze(1) + log_probs) / length**alpha"),
        (RESULT, "Hypothesis(tokens, total, total)"),
        caught_by=ALWAYS,
    ),
    entry(
        "eos-not-counted-in-log-prob",
        "The log-probability of </s> is not part of a hypothesis's log_prob.",
        "</s> is a generated token as any other: its log-probability counts.",
        (FINISH, "finished.append((history[:-1], total - float(log_probs[parent, eos]), length))"),
        caught_by=ALWAYS,
    ),
    entry(
        "eos-twice",
        "The log-probability of </s> is added once more when a hypothesis finishes.",
        "The summed log-probability has that of </s> already when it is picked.",
        (FINISH, "finished.append((history[:-1], total + float(log_probs[parent, eos]), length))"),
        caught_by=ALWAYS,
    ),
    entry(
        "counts-bos",
        "n counts <s> too.",
        "n counts generated tokens: </s> is one, <s> is given.",
        (RESULT, "Hypothesis(tokens, total, total / (n + 1) ** alpha)"),
        caught_by=("test_by_hand", "test_n_best", "test_length_normalisation"),
    ),
    entry(
        "counts-bos-of-finished",
        "n of a finished hypothesis counts <s> too, n of an unfinished one does not.",
        "n counts generated tokens: </s> is one, <s> is given.",
        (FINISH, "finished.append((history[:-1], total, length + 1))"),
        caught_by=("test_by_hand", "test_n_best", "test_length_normalisation"),
    ),
    entry(
        "excludes-eos",
        "n is the number of words, without </s>.",
        "n counts generated tokens, </s> included; so () has n = 1.",
        (RESULT, "Hypothesis(tokens, total, total / max(1, len(tokens)) ** alpha)"),
        caught_by=("test_by_hand", "test_n_best", "test_length_normalisation"),
    ),
    entry(
        "alpha-ignored",
        "Hypotheses are ranked by their summed log-probability, whatever alpha is.",
        "The list is ordered by score = log_prob / n**alpha.",
        (RESULT, "Hypothesis(tokens, total, total)"),
        caught_by=("test_by_hand", "test_n_best", "test_length_normalisation"),
    ),
    entry(
        "alpha-always-one",
        "Scores are means over the tokens, whatever alpha is.",
        "alpha is the exponent of n; alpha = 0 compares plain log-probabilities.",
        (RESULT, "Hypothesis(tokens, total, total / n)"),
        caught_by=("test_by_hand", "test_n_best", "test_length_normalisation"),
    ),
    entry(
        "alpha-times-n",
        "The score is log_prob / (alpha * n).",
        "alpha is an exponent: log_prob / n**alpha.",
        (RESULT, "Hypothesis(tokens, total, total / max(1.0, alpha * n))"),
        caught_by=("test_n_best", "test_length_normalisation"),
    ),
    entry(
        "default-alpha",
        "Without alpha, plain log-probabilities are compared.",
        "The default is alpha = 1.",
        ("alpha=1.0", "alpha=0.0"),
        caught_by=("test_by_hand",),
    ),
    entry(
        "multiplies-by-length",
        "A log-probability is normalised by multiplying with n**alpha.",
        "Long hypotheses have sums that are too low; dividing by n**alpha makes up for it.",
        (RESULT, "Hypothesis(tokens, total, total * n**alpha)"),
        caught_by=("test_by_hand", "test_n_best", "test_length_normalisation"),
    ),
    entry(
        "gnmt-penalty",
        "The length penalty is ((5 + n) / 6)**alpha.",
        "Here it is n**alpha.",
        (RESULT, "Hypothesis(tokens, total, total / ((5 + n) / 6) ** alpha)"),
        caught_by=("test_by_hand", "test_n_best", "test_length_normalisation"),
    ),
    entry(
        "divides-by-last-length",
        "All hypotheses are divided by the number of steps of the search.",
        "Each is divided by the number of its own tokens.",
        (RESULT, "Hypothesis(tokens, total, total / length**alpha)"),
        caught_by=("test_by_hand", "test_n_best", "test_length_normalisation"),
    ),
    entry(
        "log-prob-normalised",
        "log_prob is the normalised value, as the score.",
        "log_prob is the plain sum; only the score is divided.",
        (RESULT, "Hypothesis(tokens, total / n**alpha, total / n**alpha)"),
        caught_by=("test_by_hand", "test_n_best", "test_length_normalisation"),
    ),
    # --- State ---
    entry(
        "state-not-reordered",
        "The state that step returned belongs to the hypotheses as they are now.",
        "Row j of the state belongs to hypothesis j BEFORE the selection: pick parents' rows.",
        (PICK, "state = tuple(part[torch.arange(len(rows)) % len(part)] for part in state)"),
        caught_by=("test_n_best", "test_state_follows"),
    ),
    entry(
        "only-first-tensor",
        "Only the first tensor of the state has to be reordered.",
        "EVERY tensor of the state goes with its hypothesis.",
        (
            PICK,
            "state = (state[0][rows], *(part[torch.arange(len(rows)) % len(part)] "
            "for part in state[1:]))",
        ),
        caught_by=("test_n_best", "test_state_follows"),
    ),
    entry(
        "last-tensor-forgotten",
        "The last tensor of the state (input feeding) need not be reordered.",
        "EVERY tensor of the state goes with its hypothesis.",
        (
            PICK,
            "state = (*(part[rows] for part in state[:-1]), "
            "state[-1][torch.arange(len(rows)) % len(state[-1])])",
        ),
        caught_by=("test_n_best", "test_state_follows"),
    ),
    entry(
        "state-cut",
        "Of the state's tensors, those of integers at least, the first rows are kept.",
        "Row j of the state belongs to hypothesis j BEFORE the selection: pick parents' rows.",
        (PICK, "state = tuple(part[: len(rows)] for part in state)"),
        caught_by=("test_by_hand", "test_n_best", "test_state_follows"),
    ),
    entry(
        "all-but-first-cut",
        "The first tensor of the state is reordered; of the others the first rows are kept.",
        "EVERY tensor of the state goes with its hypothesis.",
        (PICK, "state = (state[0][rows], *(part[: len(rows)] for part in state[1:]))"),
        caught_by=("test_n_best", "test_state_follows"),
    ),
    entry(
        "all-but-two-cut",
        "h and c are reordered; of what follows them in the state the first rows are kept.",
        "EVERY tensor of the state goes with its hypothesis.",
        (
            PICK,
            "state = tuple(part[rows] if index < 2 else part[: len(rows)] "
            "for index, part in enumerate(state))",
        ),
        caught_by=("test_state_follows", "test_types_and_inputs"),
    ),
    entry(
        "only-float-tensors",
        "Only the float tensors of the state belong to hypotheses.",
        "A state may hold tensors of any dtype and rank; all have a row for each hypothesis.",
        (
            PICK,
            "state = tuple(part[rows] if part.is_floating_point() else "
            "part[torch.arange(len(rows)) % len(part)] for part in state)",
        ),
        caught_by=("test_n_best", "test_state_follows"),
    ),
    entry(
        "two-tensors-only",
        "A state is (h, c).",
        "A state is a tuple of one or more tensors.",
        (PICK, "state = (state[0][rows], state[1][rows])"),
        caught_by=("test_by_hand", "test_state_follows", "test_types_and_inputs"),
    ),
    entry(
        "three-tensors-only",
        "A state is (h, c, o).",
        "A state is a tuple of one or more tensors.",
        (
            "        log_probs, state = step(tokens, state)",
            "        h, c, o = state\n        log_probs, state = step(tokens, state)",
        ),
        caught_by=("test_by_hand", "test_n_best", "test_state_follows", "test_types_and_inputs"),
    ),
    entry(
        "rank-two-only",
        "Every tensor of the state is a matrix.",
        "A state may hold tensors of any rank: index dimension 0 and leave the others alone.",
        (PICK, "state = tuple(part[rows, :] for part in state)"),
        caught_by=("test_by_hand", "test_n_best", "test_state_follows"),
    ),
    entry(
        "state-of-last-parent",
        "All live hypotheses go on from the state of the last one picked.",
        "Each goes on from its own parent's row.",
        (PICK, "state = tuple(part[[rows[-1]] * len(rows)] for part in state)"),
        caught_by=("test_n_best", "test_state_follows"),
    ),
    entry(
        "state-not-advanced",
        "The state that was passed in serves all steps.",
        "Go on from the state that step returned.",
        ("log_probs, state = step(tokens, state)", "log_probs, _ = step(tokens, state)"),
        caught_by=("test_n_best", "test_state_follows"),
    ),
    entry(
        "old-tokens",
        "The tokens of a step stay in the order of the hypotheses they extend.",
        "Row j of the tokens and row j of the state must belong to the same hypothesis.",
        ("tokens = torch.tensor(live_tokens)", "tokens = torch.tensor(live_tokens[::-1])"),
        caught_by=("test_n_best", "test_state_follows"),
    ),
    entry(
        "changes-first-state",
        "The state that was passed in may be overwritten.",
        "Nothing changes its inputs.",
        (
            "    finished = []\n",
            "    finished = []\n    given = state\n",
        ),
        ("    results = [", "    for part in given:\n        part.zero_()\n    results = ["),
        caught_by=("test_types_and_inputs",),
    ),
    entry(
        "seeds",
        "A search may seed torch's random numbers.",
        "Nothing is random here, and whoever draws numbers afterwards gets the same each time.",
        ("    finished = []\n", "    finished = []\n    torch.manual_seed(0)\n"),
        caught_by=("test_types_and_inputs",),
    ),
    entry(
        "gradients-off",
        "A search may switch torch's gradients off for good.",
        "Switch them off in a `with`, or by the decorator: then they are on again afterwards.",
        ("    finished = []\n", "    finished = []\n    torch.set_grad_enabled(False)\n"),
        caught_by=("test_types_and_inputs",),
    ),
    # --- Selection ---
    entry(
        "history-not-gathered",
        "Hypothesis j of a step extends hypothesis j of the one before.",
        "A survivor extends its parent, which may stand in any row.",
        ("history = live[parent] + (token,)", "history = live[len(rows) % len(live)] + (token,)"),
        caught_by=("test_n_best", "test_state_follows"),
    ),
    entry(
        "parent-by-token",
        "A parent is found by its last token.",
        "Two live hypotheses can end in the same token: go by rows.",
        (
            "history = live[parent] + (token,)",
            "parent = next(i for i, h in enumerate(live) if h[-1:] == live[parent][-1:])\n"
            "            history = live[parent] + (token,)",
        ),
        caught_by=("test_n_best",),
    ),
    entry(
        "row-and-token-swapped",
        "In the flattened (n, V), the row is the remainder.",
        "The row is index // V, the token index % V.",
        (
            "parents, tokens = best // size, best % size",
            "parents, tokens = best % len(live), best // len(live)",
        ),
        caught_by=ALWAYS,
    ),
    entry(
        "divides-by-beam",
        "The flattened index is divided by the beam size.",
        "The flattened (n, V) has V columns: the row is index // V.",
        (
            "parents, tokens = best // size, best % size",
            "parents, tokens = (best // beam_size) % len(live), best % size",
        ),
        caught_by=("test_by_hand", "test_n_best"),
    ),
    entry(
        "float-index",
        "The row is index / V.",
        "Indices are integers: use //.",
        ("best // size, best % size", "best / size, best % size"),
        caught_by=ALWAYS,
    ),
    entry(
        "best-child-of-each",
        "Every live hypothesis keeps its best extension.",
        "The k best of all n * V extensions together survive, whoever their parents are.",
        (
            TOPK,
            "if len(live) == beam_size:\n"
            "            totals, best = extended.max(1)\n"
            "            best = best + torch.arange(len(live)) * size\n"
            "        else:\n"
            "            " + TOPK,
        ),
        caught_by=("test_n_best", "test_state_follows"),
    ),
    entry(
        "first-not-best",
        "The first k of all hypotheses' best extensions are kept.",
        "The extensions of all hypotheses compete: sort them together.",
        (
            TOPK,
            "totals, best = extended.topk(min(beam_size, size))\n"
            "        best = (best + torch.arange(len(live)).unsqueeze(1) * size).flatten()\n"
            "        totals, best = totals.flatten()[:beam_size], best[:beam_size]",
        ),
        caught_by=("test_by_hand", "test_n_best", "test_state_follows"),
    ),
    entry(
        "smallest-kept",
        "The k smallest values are kept.",
        "The larger a log-probability, the better: -1 is better than -2.",
        ("min(beam_size, extended.numel()))", "min(beam_size, extended.numel()), largest=False)"),
        caught_by=ALWAYS,
    ),
    entry(
        "beam-narrows",
        "With every finished hypothesis, the beam gets narrower by one.",
        "At every step the k best extensions are kept, however many have finished.",
        (TOPK, TOPK.replace("min(beam_size,", "min(beam_size - len(finished),")),
        caught_by=("test_n_best", "test_state_follows"),
    ),
    entry(
        "eos-takes-no-place",
        "Extensions by </s> finish, and k others are kept live.",
        "A </s> among the k best takes one of the k places of this step.",
        (TOPK, TOPK.replace("min(beam_size,", "min(2 * beam_size,")),
        (
            "            if token == eos:\n",
            "            if len(rows) == beam_size:\n                break\n"
            "            if token == eos:\n",
        ),
        caught_by=("test_by_hand", "test_n_best"),
    ),
    entry(
        "two-k-candidates",
        "Of the best 2k extensions all by </s> finish, and k others are kept live.",
        "The k best extensions are kept, and a </s> among them takes one of the k places.",
        (TOPK, TOPK.replace("min(beam_size,", "min(2 * beam_size,")),
        ("            else:\n", "            elif len(rows) < beam_size:\n"),
        caught_by=("test_by_hand", "test_n_best"),
    ),
    entry(
        "finished-keep-places",
        "Finished hypotheses stay among the k, until better ones push them out.",
        "Finished hypotheses leave the beam, and all k places of the next step are free.",
        (
            TOPK,
            "old = torch.tensor([total for _, total, _ in finished])\n"
            "        every = torch.cat([extended.flatten(), old])\n"
            "        totals, best = every.topk(min(beam_size, every.numel()))\n"
            "        places = (best - extended.numel()).tolist()\n"
            "        finished = [finished[place] for place in places if place >= 0]\n"
            "        new = best < extended.numel()\n"
            "        totals, best = totals[new], best[new]",
        ),
        caught_by=("test_n_best",),
    ),
    entry(
        "softmax-over-beam",
        "log_probs have to be normalised over the hypotheses.",
        "They are normalised over the vocabulary already.",
        (EXTENDED, "extended = totals.unsqueeze(1) + log_probs.log_softmax(0)"),
        caught_by=ALWAYS,
    ),
    entry(
        "totals-forgotten",
        "Each step compares the log-probabilities of the next token alone.",
        "Compare sums: what the hypothesis has so far plus the next token's.",
        (EXTENDED, "extended = log_probs"),
        caught_by=("test_by_hand", "test_n_best", "test_state_follows"),
    ),
    entry(
        "wider-than-vocabulary",
        "The beam is never wider than the vocabulary.",
        "With k > V there are fewer candidates than places at the first step: keep them all.",
        (TOPK, TOPK.replace("min(beam_size, extended.numel())", "beam_size")),
        caught_by=("test_beam_sizes",),
    ),
    entry(
        "starts-with-k-copies",
        "At the start there are k equal hypotheses.",
        "At the start there is one, n = 1; k copies of it only find the same extensions k times.",
        ("live = [()]", "live = [()] * beam_size"),
        (
            "tokens = torch.tensor([bos])",
            "tokens = torch.tensor([bos] * beam_size)\n"
            "    state = tuple(part[[0] * beam_size] for part in state)",
        ),
        ("torch.zeros(1)", "torch.zeros(beam_size)"),
        caught_by=("test_by_hand", "test_n_best", "test_beam_sizes"),
    ),
    entry(
        "filled-with-infinity",
        "The list always has k places; those that nothing takes have the score minus infinity.",
        "The list holds hypotheses that were found, and may be short.",
        (
            CUT,
            "filler = Hypothesis((), -float('inf'), -float('inf'))\n"
            "    return (results + [filler] * beam_size)[:beam_size]",
        ),
        caught_by=("test_by_hand", "test_n_best", "test_max_length"),
    ),
    entry(
        "beam-cut-to-vocabulary",
        "At most V hypotheses are kept at a step.",
        "Only the first step has no more than V candidates; later there are n * V.",
        (TOPK, TOPK.replace("extended.numel())", "size)")),
        caught_by=("test_beam_sizes",),
    ),
    entry(
        "depth-first",
        "Each hypothesis is finished before the next one is looked at.",
        "All live hypotheses grow together, one token a step.",
        (
            "rows.append(parent)",
            "if hypotheses:\n                    continue\n                rows.append(parent)",
        ),
        caught_by=("test_n_best", "test_state_follows"),
    ),
    # --- Finishing and stopping ---
    entry(
        "extends-finished",
        "A hypothesis that ended in </s> stays in the beam and is extended.",
        "Finished hypotheses leave the beam.",
        (
            FINISH,
            "finished.append((history[:-1], total, length)); "
            "rows.append(parent); live_totals.append(total); live_tokens.append(token); "
            "hypotheses.append(history)",
        ),
        caught_by=("test_n_best",),
    ),
    entry(
        "stops-at-first-eos",
        "The search is over when the first hypothesis has finished.",
        "It goes on until k have finished, none is live, or max_length is reached.",
        (STOP, "if finished:"),
        caught_by=("test_by_hand", "test_n_best", "test_state_follows"),
    ),
    entry(
        "stops-when-best-ends",
        "The search is over when the best extension of a step is </s>.",
        "Another hypothesis may overtake it after normalisation: go on.",
        (STOP, "if int(best[0]) % size == eos or len(finished) >= beam_size or not live:"),
        caught_by=("test_n_best",),
    ),
    entry(
        "stops-when-none-is-better",
        "The search is over when no live hypothesis scores better than the best finished one.",
        "A live one can still overtake it, and the list has up to k places: go on.",
        (
            STOP,
            STOP[:-1] + " or finished and max("
            "t / n**alpha for _, t, n in finished) > totals[0].item() / length**alpha:",
        ),
        caught_by=("test_n_best",),
    ),
    entry(
        "stops-when-none-is-likelier",
        "The search is over when no live hypothesis has a larger log_prob than a finished one.",
        "A live one can still overtake it by its score, and the list has up to k places: go on.",
        (STOP, STOP[:-1] + " or finished and max(t for _, t, _ in finished) > totals[0].item():"),
        caught_by=("test_n_best",),
    ),
    entry(
        "stops-only-at-max-length",
        "The search always runs to max_length.",
        "It stops as soon as k hypotheses have finished in all.",
        (STOP, "if not live:"),
        caught_by=("test_n_best",),
    ),
    entry(
        "stops-at-exactly-k",
        "The search is over when exactly k hypotheses have finished.",
        "Several can finish in one step: at least k.",
        (STOP, "if len(finished) == beam_size or not live:"),
        caught_by=("test_n_best",),
    ),
    entry(
        "stops-beyond-k",
        "The search is over when more than k hypotheses have finished.",
        "k finished ones are enough.",
        (STOP, "if len(finished) > beam_size or not live:"),
        caught_by=("test_n_best",),
    ),
    entry(
        "cuts-by-log-prob",
        "Of the finished hypotheses the first k found are returned, best first.",
        "More than k may finish: take the k best scores of all of them.",
        ("    results = [", "    finished = finished[:beam_size]\n    results = ["),
        caught_by=("test_n_best",),
    ),
    entry(
        "returns-all",
        "All finished hypotheses are returned.",
        "At most beam_size are.",
        (CUT, "return results"),
        caught_by=("test_by_hand", "test_n_best"),
    ),
    entry(
        "returns-one",
        "The best hypothesis alone is the result.",
        "The result is a list, up to beam_size long, best first.",
        (CUT, "return results[:1]"),
        caught_by=("test_by_hand", "test_n_best"),
    ),
    entry(
        "not-sorted",
        "Hypotheses are returned in the order in which they finished.",
        "Best score first.",
        (SORT, ""),
        caught_by=("test_by_hand", "test_n_best"),
    ),
    entry(
        "worst-first",
        "Sorting by score puts the best first.",
        "Scores are negative, and the largest is the best: sort in reverse.",
        (SORT, SORT.replace("True", "False")),
        caught_by=("test_by_hand", "test_n_best"),
    ),
    entry(
        "sorted-by-log-prob",
        "The list is ordered by log_prob.",
        "It is ordered by score.",
        (SORT, SORT.replace("hypothesis.score", "hypothesis.log_prob")),
        caught_by=("test_by_hand", "test_n_best", "test_length_normalisation"),
    ),
    entry(
        "live-ones-too",
        "At max_length the live hypotheses are returned with the finished ones.",
        "Only finished ones are returned, if there are any.",
        (
            "    if not finished:\n        " + UNFINISHED,
            "    finished += [(h, t, length) for h, t in zip(live, totals.tolist())]",
        ),
        caught_by=("test_by_hand", "test_n_best", "test_max_length"),
    ),
    entry(
        "fills-up-with-live",
        "If less than k have finished, live hypotheses fill the list up.",
        "Only finished ones are returned, if there are any; the list may be short.",
        (
            "    if not finished:\n        " + UNFINISHED,
            "    missing = max(0, beam_size - len(finished))\n"
            "    finished += [(h, t, length) for h, t in zip(live[:missing], totals.tolist())]",
        ),
        caught_by=("test_by_hand", "test_n_best", "test_max_length"),
    ),
    entry(
        "nothing-finished-empty",
        "If none has finished, there is no result.",
        "Then the best live one is the result.",
        (UNFINISHED, "return []"),
        caught_by=("test_by_hand", "test_max_length"),
    ),
    entry(
        "nothing-finished-all",
        "If none has finished, all live ones are the result.",
        "Then the best live one alone is the result.",
        (UNFINISHED, "finished = [(h, t, length) for h, t in zip(live, totals.tolist())]"),
        caught_by=("test_by_hand", "test_max_length"),
    ),
    entry(
        "nothing-finished-last",
        "If none has finished, any live one is the result.",
        "Then it is the one with the largest log_prob.",
        (UNFINISHED, "finished = [(live[-1], totals[-1].item(), length)]"),
        caught_by=("test_by_hand", "test_max_length"),
    ),
    entry(
        "unfinished-counts-eos",
        "n of an unfinished hypothesis is one more than its tokens: it counts a </s>, or <s>.",
        "Its score is normalised by its own number of tokens.",
        (UNFINISHED, "finished = [(live[0], totals[0].item(), length + 1)]"),
        caught_by=("test_max_length",),
    ),
    entry(
        "eos-forced-at-the-end",
        "At max_length a </s> is added to the live hypotheses.",
        "max_length ends the search; what has no </s> then is unfinished.",
        (
            UNFINISHED,
            "forced = step(tokens, state)[0][:, eos]\n"
            "        finished = [(live[0], (totals + forced)[0].item(), length + 1)]",
        ),
        caught_by=("test_max_length",),
    ),
    entry(
        "one-step-more",
        "max_length counts words, and a </s> may follow.",
        "max_length counts the generated tokens, </s> included.",
        ("range(1, max_length + 1)", "range(1, max_length + 2)"),
        caught_by=("test_by_hand", "test_max_length"),
    ),
    entry(
        "one-step-less",
        "<s> is one of the max_length tokens.",
        "max_length counts the generated tokens, without <s>.",
        ("range(1, max_length + 1)", "range(1, max(2, max_length))"),
        caught_by=("test_by_hand", "test_max_length"),
    ),
    entry(
        "capped-at-twenty",
        "No translation has more than 20 tokens.",
        "Where the search ends is max_length's to say.",
        ("range(1, max_length + 1)", "range(1, min(max_length, 20) + 1)"),
        caught_by=("test_max_length",),
    ),
    entry(
        "max-length-ignored",
        "The search ends when k hypotheses have finished, and not before.",
        "It ends after max_length tokens at the latest.",
        ("range(1, max_length + 1)", "range(1, 200)"),
        caught_by=("test_n_best", "test_max_length"),
    ),
    entry(
        "never-stops",
        "A search ends when no hypothesis is live.",
        "Most models can go on for ever: stop at k finished ones or at max_length.",
        (
            "for length in range(1, max_length + 1):",
            "import itertools\n    for length in itertools.count(1):",
        ),
        (STOP, "if not live:"),
        caught_by=ALWAYS,
    ),
    # --- Tokens ---
    entry(
        "bans-empty",
        "A translation has at least one word: </s> cannot come first.",
        "No token is banned: () is valid.",
        (EXTENDED, EXTENDED + "\n        if length == 1:\n            extended[:, eos] = -1e9"),
        caught_by=("test_no_token_is_banned",),
    ),
    entry(
        "drops-empty",
        "An empty translation is not a result.",
        "() is valid, with n = 1.",
        (CUT, "return [hypothesis for hypothesis in results if hypothesis.tokens][:beam_size]"),
        caught_by=("test_no_token_is_banned",),
    ),
    entry(
        "bans-bos",
        "<s> cannot be generated.",
        "No token is banned.",
        (EXTENDED, EXTENDED + "\n        extended[:, bos] = -1e9"),
        caught_by=("test_no_token_is_banned",),
    ),
    entry(
        "bans-padding-and-unknown",
        "Padding and <unk>, ids 0 and 3, cannot be generated.",
        "No token is banned.",
        (
            EXTENDED,
            EXTENDED + "\n        for banned in {0, 3} - {eos}:\n"
            "            extended[:, banned:banned + 1] = -1e9",
        ),
        caught_by=("test_n_best",),
    ),
    entry(
        "bans-repetition",
        "A token cannot follow itself.",
        "No token is banned.",
        (EXTENDED, EXTENDED + "\n        extended.scatter_(1, tokens.unsqueeze(1), -1e9)"),
        caught_by=("test_n_best",),
    ),
    entry(
        "fixed-ids",
        "<s> has the id 1 and </s> the id 2.",
        "The ids are the arguments bos and eos.",
        ("    finished = []\n", "    finished = []\n    bos, eos = 1, 2\n"),
        caught_by=("test_by_hand", "test_n_best"),
    ),
    entry(
        "starts-with-eos",
        "The first token that step reads is </s>.",
        "It is bos.",
        ("tokens = torch.tensor([bos])", "tokens = torch.tensor([eos])"),
        caught_by=("test_n_best",),
    ),
    entry(
        "eos-among-tokens",
        "The tokens end with </s>.",
        "</s> ends a hypothesis and is not one of its tokens.",
        (FINISH, "finished.append((history, total, length))"),
        caught_by=ALWAYS,
    ),
    entry(
        "bos-among-tokens",
        "The tokens begin with <s>.",
        "<s> is given, and is not one of the tokens.",
        (RESULT, "Hypothesis((bos, *tokens), total, total / n**alpha)"),
        caught_by=ALWAYS,
    ),
    entry(
        "last-word-cut",
        "The last token of every result is </s> and has to go.",
        "An unfinished hypothesis has no </s>: all its tokens are words.",
        (UNFINISHED, "finished = [(live[0][:-1], totals[0].item(), length)]"),
        caught_by=("test_by_hand", "test_max_length"),
    ),
    entry(
        "shared-history",
        "Two children of one parent can share its list of tokens.",
        "Each child needs tokens of its own: make a new list, do not append to the parent's.",
        ("live = [()]", "live = [[]]"),
        (
            "history = live[parent] + (token,)",
            "history = live[parent]\n            history.append(token)",
        ),
        (RESULT, "Hypothesis(tuple(tokens), total, total / n**alpha)"),
        caught_by=("test_by_hand", "test_n_best"),
    ),
    # --- Types ---
    entry(
        "list-of-tokens",
        "The tokens are a list.",
        "Hypothesis.tokens is a tuple.",
        (RESULT, "Hypothesis(list(tokens), total, total / n**alpha)"),
        caught_by=("test_types_and_inputs",),
    ),
    entry(
        "tensors-in-result",
        "log_prob and score may stay tensors, or numpy's numbers.",
        "Take Python floats out of them with .item() or .tolist().",
        (RESULT, "Hypothesis(tokens, torch.tensor(total), torch.tensor(total / n**alpha))"),
        caught_by=("test_types_and_inputs",),
    ),
    entry(
        "token-tensors",
        "The tokens may stay tensors, or numpy's integers.",
        "Take Python ints out of them with .item() or .tolist().",
        (RESULT, "Hypothesis(tuple(map(torch.tensor, tokens)), total, total / n**alpha)"),
        caught_by=("test_types_and_inputs",),
    ),
    entry(
        "plain-tuples",
        "A hypothesis is any tuple of tokens, log_prob and score.",
        "Return Hypothesis objects: the translation code uses their names.",
        (RESULT, "(tokens, total, total / n**alpha)"),
        (SORT, "results.sort(key=lambda hypothesis: hypothesis[2], reverse=True)"),
        caught_by=ALWAYS,
    ),
    entry(
        "column-of-tokens",
        "step takes its tokens as a column (n, 1).",
        "step takes tokens of shape (n,).",
        ("step(tokens, state)", "step(tokens.unsqueeze(1), state)"),
        caught_by=ALWAYS,
    ),
]
