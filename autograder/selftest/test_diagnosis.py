"""Is a mistake named where that is certain, and nowhere else?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import pytest
import torch

from autograder import diagnosis, results
from autograder.diagnosis import (
    Bench,
    Diagnosis,
    Finding,
    Record,
    Shown,
    explained,
    stands_out,
    told,
)
from autograder.examples import EXAMPLES, Example
from autograder.faults import GraderFault
from autograder.grade import grade
from autograder.intake import Submission
from autograder.likeness import same_reply
from autograder.misconceptions import TASKS, catalogue
from autograder.results import Verdict
from autograder.sandbox.isolation import Isolation
from autograder.sandbox.session import Call, Worker
from autograder.selftest.harness import (
    FACTS,
    Diagnoses,
    WarmWorker,
    lost,
    overridden,
    reference_files,
    run_task,
)
from autograder.wording import WORDS, hint

ENTRIES = {entry.id: entry for entry in catalogue()}
ALL = [(task, example) for task in TASKS for example in EXAMPLES[task]]


def diagnosed(
    warm: WarmWorker, diagnoses: Diagnoses, task: str, override: str
) -> dict[str, Verdict]:
    """Run a task on the reference with code after it, and name the mistakes."""
    return run_task(warm, task, overridden(task, override), diagnoses=diagnoses)


def names(verdicts: Mapping[str, Verdict]) -> dict[str, str | None]:
    """Return the mistake named in each failed test."""
    return {name: verdicts[name].misconception for name in sorted(lost(verdicts))}


# --- Two mistakes in one file ---

MIXTURES = {
    "masking": ("masking-mask-late", "masking-zero-fill", "masking-loss-mean-of-means"),
    "attention": ("attention-dot-mean", "attention-additive-linear", "attention-step-hidden-first"),
}


@pytest.mark.parametrize("task", MIXTURES)
def test_each_of_several_mistakes_is_named(
    warm: WarmWorker, diagnoses: Diagnoses, task: str
) -> None:
    """Are mistakes in several functions of one file each named in the tests of theirs?"""
    entries = [ENTRIES[name] for name in MIXTURES[task]]
    override = "\n".join(entry.override for entry in entries)
    found = names(diagnosed(warm, diagnoses, task, override))
    for entry in entries:
        first = entry.caught_by[0]
        assert found[first] == entry.id
    assert set(found.values()) <= {*MIXTURES[task], None}


def test_kinds_do_not_hide_a_mistake(warm: WarmWorker, diagnoses: Diagnoses) -> None:
    """Is a wrong length named where the tokens are a list, too?"""
    override = ENTRIES["beam-counts-bos"].override.replace(
        "Hypothesis(tokens, total, total / (n + 1)",
        "Hypothesis(list(tokens), total, total / (n + 1)",
    )
    found = names(diagnosed(warm, diagnoses, "beam", override))
    assert found["test_by_hand"] == "beam-counts-bos"


# --- The same mistake in other words ---

IN_OTHER_WORDS = {
    "lstm-order-ifog": """
def _forward(self, x, state):
    h, c = state
    z = torch.cat((x, h), 1).mm(torch.cat((self.weight_ih, self.weight_hh), 1).t())
    z = z + self.bias_ih + self.bias_hh
    n = self.hidden_size
    c = torch.sigmoid(z[:, n:2 * n]) * c + torch.sigmoid(z[:, :n]) * torch.tanh(z[:, 3 * n:])
    return torch.sigmoid(z[:, 2 * n:3 * n]) * torch.tanh(c), c
LSTMCell.forward = _forward""",
    # No gradient at all, where the catalogue's own spelling gives one of zeros.
    "lstm-without-bias-hh": """
def _forward(self, x, state):
    h, c = state
    z = x @ self.weight_ih.T + h @ self.weight_hh.T + self.bias_ih
    i, f, g, o = z.chunk(4, 1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c
LSTMCell.forward = _forward""",
    "masking-zero-fill": """
def masked_softmax(scores, mask):
    powers = torch.where(mask, torch.ones_like(scores), torch.exp(scores))
    return powers / powers.sum(-1, keepdim=True)""",
    "masking-loss-over-all": """
def masked_cross_entropy(logits, targets, pad_id):
    p = torch.softmax(logits, -1).gather(-1, targets[..., None])[..., 0]
    return torch.where(targets == pad_id, 0.0, -torch.log(p)).sum() / targets.numel()""",
    "masking-mask-late": """
def padding_mask(lengths, max_length):
    mask = torch.zeros(len(lengths), max_length, dtype=torch.bool, device=lengths.device)
    for row, length in zip(mask, lengths.tolist()):
        if not 1 <= length <= max_length:
            raise ValueError(length)
        row[length + 1:] = True
    return mask""",
    "attention-dot-scaled": """
def dot_score(query, keys):
    return (keys @ query[:, :, None])[:, :, 0] * query.size(1) ** -0.5""",
    "attention-step-old-hidden": """
def _step(self, y, o_prev, state, memory):
    state_new = self.cell(torch.cat((y, o_prev), -1), state)
    scores = multiplicative_score(state[0], memory.values, self.att_projection.weight)
    context, weights = attend(scores, memory.values, memory.mask)
    u = torch.cat((context, state_new[0]), -1) @ self.combined_output.weight.t()
    return self.dropout(torch.tanh(u)), state_new, weights
AttentionDecoder.step = _step""",
    "beam-counts-bos": """
right = beam_search
def beam_search(step, state, *, alpha=1.0, **options):
    n_best = right(step, state, alpha=alpha, **options)
    finished = [h for h in n_best if h.score != 0]
    def counted(h):
        n = round((h.log_prob / h.score) ** (1 / alpha)) if alpha else 1
        return h._replace(score=h.log_prob / (n + 1) ** alpha)
    return sorted(map(counted, finished), key=lambda h: -h.score)""",
    "bleu-arithmetic-mean": """
def _wrong(function):
    def score(*arguments):
        found = function(*arguments)
        mean = sum(found.precisions) / len(found.precisions)
        return found._replace(score=mean * found.brevity_penalty)
    return score
corpus_bleu, sentence_bleu = _wrong(corpus_bleu), _wrong(sentence_bleu)""",
}


@pytest.mark.parametrize("name", IN_OTHER_WORDS)
def test_mistake_in_other_words_is_named(warm: WarmWorker, diagnoses: Diagnoses, name: str) -> None:
    """Is a mistake known by what it does, in code that is not the catalogue's?"""
    found = names(diagnosed(warm, diagnoses, ENTRIES[name].task, IN_OTHER_WORDS[name]))
    assert found[ENTRIES[name].caught_by[0]] == name
    assert set(found.values()) <= {name, None}


# --- No guessing ---


def test_twins_are_not_named() -> None:
    """Is an entry named only where it explains a test, and more than all others that do?"""
    found = {"a": {"x", "y"}, "b": {"x"}, "c": {"z"}, "d": {"z"}, "e": set()}
    named = {(entry, test) for entry in found for test in "xyz" if stands_out(entry, test, found)}
    assert named == {("a", "x"), ("a", "y")}


UNKNOWN = {
    "lstm": "right = LSTMCell.forward\n"
    "LSTMCell.forward = lambda self, x, state: tuple(1.1 * p for p in right(self, x, state))",
    "masking": "right = masked_softmax\n"
    "def masked_softmax(scores, mask):\n    return right(scores, mask) ** 2",
    "attention": "right = additive_score\n"
    "def additive_score(*arguments):\n    return right(*arguments).exp()",
    "beam": "right = beam_search\ndef beam_search(step, state, **options):\n"
    "    return [h._replace(score=h.score - 0.01) for h in right(step, state, **options)]",
    "bleu": "right = corpus_bleu\ndef corpus_bleu(*arguments):\n"
    "    found = right(*arguments)\n    return found._replace(score=found.score ** 0.9)",
}


@dataclass
class Judged(Bench):
    """A bench whose findings are given, by the first test of a record."""

    findings: Mapping[str, Finding] = field(default_factory=dict)

    def load(self, override: str = "") -> bool:
        """Pretend to load."""
        return True

    def judge(self, record: Record) -> Finding:
        """Return what was given."""
        return self.findings[record.tests[0]]


SAME, SILENT, OTHER = Finding.SAME, Finding.SILENT, Finding.OTHER
# Findings on two tests that the entry must fail, on one of the others, and on an example.
JUDGED = [
    ((SAME, SAME, SAME, SAME), "xyz"),
    ((SAME, SILENT, OTHER, SAME), "x"),
    ((SAME, OTHER, SAME, SAME), ""),
    ((SAME, SAME, SAME, OTHER), ""),
    ((SILENT, SILENT, SAME, SAME), ""),
]


@pytest.mark.parametrize(("findings", "expected"), JUDGED)
def test_entry_explains_or_is_contradicted(
    diagnoses: Diagnoses, findings: tuple[Finding, ...], expected: str
) -> None:
    """Does an entry explain what it gives, unless it contradicts what it must give?"""
    entry = replace(ENTRIES["lstm-forget-bias"], caught_by=("x", "y"))
    records = [Record((name,), ()) for name in "xyz"]
    records.append(Record(("example", "x"), (), failed=False))
    by_test = {record.tests[0]: finding for record, finding in zip(records, findings)}
    bench = Judged("lstm", diagnoses.start, 0.0, findings=by_test)
    assert explained(bench, entry, records) == set(expected)


@pytest.mark.parametrize("task", UNKNOWN)
def test_unknown_mistake_gets_no_name(
    warm: WarmWorker, diagnoses: Diagnoses, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Is a mistake that is not in the catalogue caught, and nothing said of which one it is?"""
    # Also without the rule that one entry has to explain more than the others.
    monkeypatch.setattr(diagnosis, "stands_out", lambda entry, test, found: test in found[entry])
    verdicts = diagnosed(warm, diagnoses, task, UNKNOWN[task])
    found = names(verdicts)
    assert found
    assert set(found.values()) == {None}
    assert not any("belief" in verdict.message for verdict in verdicts.values())


def test_nothing_of_right_is_told(warm: WarmWorker, diagnoses: Diagnoses) -> None:
    """Has the message of a passed test no example and no hint?"""
    verdicts = diagnosed(warm, diagnoses, "bleu", ENTRIES["bleu-no-clipping"].override)
    assert "Check by hand" in verdicts["test_clipping"].message
    assert {v.message for name, v in verdicts.items() if name not in lost(verdicts)} == {"Passed."}


def fails(files: Mapping[str, bytes]) -> Worker:
    """Stand for a worker that does not start."""
    raise GraderFault("no room")


@pytest.mark.parametrize(
    "broken",
    [Diagnosis(fails, seconds=100.0), Diagnosis(fails, seconds=0.0)],
    ids=["fault", "time"],
)
def test_failed_diagnosis_leaves_the_verdicts(warm: WarmWorker, broken: Diagnosis) -> None:
    """Do points and reasons stay where the diagnosis itself fails, or has no time?"""
    files = overridden("lstm", ENTRIES["lstm-forget-bias"].override)
    plain = run_task(warm, "lstm", files)
    record = Record(("test_step",), ())
    kept = broken.complete("lstm", list(plain.values()), [record], [])
    assert kept == list(plain.values())


# --- Public examples ---


@pytest.fixture(scope="module")
def answers(warm: WarmWorker) -> dict[str, list[Call]]:
    """Return the reference's answers to all examples."""
    found: dict[str, list[Call]] = {}
    for task in TASKS:
        runner = warm.serve(task, reference_files())
        calls = [runner.ask(e.function, e.inputs, seconds=10.0) for e in EXAMPLES[task]]
        found[task] = [call for call in calls if call is not None]
    return found


@pytest.mark.parametrize("task", TASKS)
def test_examples_are_right(answers: dict[str, list[Call]], task: str) -> None:
    """Does the reference give what each example calls right?"""
    assert len(answers[task]) == len(EXAMPLES[task])
    pairs = zip(EXAMPLES[task], answers[task])
    assert [text for example, call in pairs if (text := example.text(call))] == []


@pytest.mark.parametrize(("task", "example"), ALL, ids=lambda value: str(value)[:20])
def test_example_names_tests_of_its_task(task: str, example: Example) -> None:
    """Does each example belong to hidden tests that there are, and show what is wrong?"""
    assert set(example.tests) <= set(FACTS.tasks[task].tests)
    wrong = Call("", {}, 0, {"value": None})
    assert "right is" in str(example.text(wrong))
    raised = Call("", {}, 0, {"error": {"type": "ValueError", "text": "secret"}})
    assert "raises ValueError" in str(example.text(raised))
    assert "secret" not in str(example.text(raised))
    stub = {"type": "NotImplementedError", "text": "", "not_implemented": True}
    assert example.text(Call("", {}, 0, {"error": stub})) is None
    odd = Call("", {}, 0, {"value": [{"hypotheses": [[]], "bleu": [None]}]})
    assert "right is" in str(example.text(odd))


def test_example_stands_in_the_message() -> None:
    """Does a failed test show the example with the input, the answer and what is right?"""
    example = EXAMPLES["masking"][1]
    call = Call("run", {}, 0, {"value": {"value": torch.tensor([[0.665241, 0.244728, 0.090031]])}})
    verdict = Verdict(
        *(
            "masking",
            "test_masked_softmax",
            "2.4",
            "Are they?",
            2.0,
            0.0,
            "failed",
            "why",
            "visible",
        )
    )
    message = told(verdict, ENTRIES["masking-zero-fill"], [Shown(example, call)]).message
    lines = message.splitlines()
    assert lines[0] == "why"
    assert [line.split(":")[0] for line in lines[1:]] == [
        "This is what comes of the belief",
        "Hint",
        "Check by hand",
    ]
    assert "0.244728" in lines[3]
    assert "0.731059" in lines[3]


# --- The same but for rounding ---

NAN = float("nan")
PAIRS = [
    (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.00001]), True),
    (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.01]), False),
    (torch.tensor([1.0]), torch.tensor([1.0]).double(), False),
    (torch.tensor([1.0]), torch.tensor([[1.0]]), False),
    (torch.tensor([NAN, 1.0]), torch.tensor([NAN, 1.0]), True),
    (torch.tensor([NAN, 1.0]), torch.tensor([1.0, 1.0]), False),
    (torch.tensor([float("inf")]), torch.tensor([-float("inf")]), False),
    (torch.tensor([True]), torch.tensor([False]), False),
    (1.0, 1.0 + 1e-13, True),
    (0.0, 1e-300, False),
    (NAN, NAN, True),
    ([1, 2], (1, 2), False),
    (1, 1.0, False),
    ({"a": None}, {"a": torch.tensor(1.0)}, False),
]


@pytest.mark.parametrize(("one", "other", "same"), PAIRS, ids=str)
def test_likeness(one: object, other: object, same: bool) -> None:
    """Are values the same where they differ by rounding, and nowhere else?"""
    replies = {"value": one}, {"value": other}
    assert same_reply(*replies, relative=1e-12, exact=True) is same


def test_kinds_may_be_left_out() -> None:
    """Can a list stand for a tuple, an int and a tensor for a float, and an error for nothing?"""
    replies = {"value": [1, torch.tensor(2.0)]}, {"value": (1.0, 2.0)}
    assert same_reply(*replies, relative=1e-12, exact=False)
    raised = {"error": {"type": "ValueError", "text": "a", "line": 1}}
    assert same_reply(raised, {"error": {**raised["error"], "line": 2}}, relative=0, exact=True)
    assert not same_reply(raised, {"value": None}, relative=0, exact=True)


# --- Words for common exceptions ---


def test_common_exceptions_have_words() -> None:
    """Does each kind of words come up for an exception that torch or Python really raises?"""
    x = torch.ones(2, requires_grad=True)
    mask = torch.tensor([True, False])
    tried: list[Callable[[], object]] = [
        lambda: x[torch.tensor([0.5])],
        lambda: x.mul_(2),
        lambda: torch.autograd.grad(torch.ones(1), x),
        lambda: torch.ones(1, 2) @ torch.ones(2, 1).double(),
        lambda: torch.ones(2).softmax(1),
        lambda: 1 - mask,
        lambda: 1 / 0,
        lambda: torch.ones(2, 3) @ torch.ones(2, 3),
    ]
    found = []
    for action in tried:
        with pytest.raises(Exception) as caught:  # noqa: PT011
            action()
        found.append(hint(type(caught.value).__name__, str(caught.value)))
    words = [text for _, text in WORDS if "devices" not in text]
    assert found == words
    assert hint("KeyError", "no luck") is None


# --- All of it, through the real sandbox ---


def test_graded_submission_names_the_mistake(isolation: Isolation) -> None:
    """Does the result carry id, belief and example, and stay as it was in points?"""
    entry = ENTRIES["masking-zero-fill"]
    files = overridden("masking", entry.override)
    facts = replace(FACTS, limits=replace(FACTS.limits, diagnosis_seconds=100.0))
    graded = grade(Submission(files), facts, tasks=["masking"], seed=1, isolation=isolation)
    tests = {test["extra_data"]["test"]: test for test in results.document(graded)["tests"]}
    failed = tests["test_masked_softmax"]
    assert failed["extra_data"]["misconception"] == entry.id
    assert entry.belief in failed["output"]
    assert "Check by hand" in failed["output"]
    assert tests["test_padding_mask"]["extra_data"]["misconception"] is None
