"""The command line: check, train, translate, heatmap, tree, submit.

torch and the tasks are imported by the commands that need them: `check` and `submit` have to work
while a task's file cannot even be imported.
"""

import argparse
import math
import os
import string
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from nmt.files import CHECKPOINT, InputError, read_lines, write_atomically
from nmt.settings import ModelConfig, SearchConfig, TrainingConfig

INTERRUPTED = 130  # what shells report after Ctrl-C

OWN_ARGUMENTS = {  # commands that read their arguments themselves
    "check": "run the tests and say, task by task, what is done, missing or wrong",
    "submit": "write submission.zip",
}


class Parser(argparse.ArgumentParser):
    """Report wrong usage in one line."""

    def error(self, message: str) -> NoReturn:
        """Exit with status 2."""
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[Parser]


def positive(text: str) -> int:
    """Read a whole number of at least 1."""
    if text.isdecimal() and int(text) >= 1:
        return int(text)
    raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, got {text!r}")


def number(text: str) -> float:
    """Read a finite number of at least 0."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if 0 <= value < math.inf:
        return value
    raise argparse.ArgumentTypeError(f"expected a number of at least 0, got {text!r}")


def seed(text: str) -> int:
    """Read a whole number that torch takes as a seed, a thousandfold too."""
    if text.isdecimal() and int(text) < 2**32:
        return int(text)
    raise argparse.ArgumentTypeError(f"expected a whole number below 2**32, got {text!r}")


def build_parser() -> Parser:
    """Describe the commands and their options."""
    parser = Parser(
        prog="python -m nmt",
        description="Translate English to Zhoric with your own recurrent networks.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for name, text in OWN_ARGUMENTS.items():
        commands.add_parser(name, help=text, add_help=False)
    add_train(commands)
    add_translate(commands)
    add_heatmap(commands)
    add_tree(commands)
    return parser


def add_train(commands: "Commands") -> None:
    """Describe `train`."""
    text = "train a model; keep the weights with the best BLEU on the dev set"
    parser = commands.add_parser("train", help=text, description=text)
    config = TrainingConfig()
    for option, kind, default, help_text in (
        ("--epochs", positive, config.epochs, "passes over the training set"),
        ("--batch-size", positive, config.batch_size, "sentence pairs a step"),
        ("--max-learning-rate", number, config.max_learning_rate, "peak of the schedule"),
        ("--clip-norm", number, config.clip_norm, "largest norm of the gradient"),
        ("--seed", seed, config.seed, "the same seed gives the same weights"),
        ("--dropout", number, ModelConfig.dropout, "share of the decoder's outputs dropped"),
        ("--output", Path, CHECKPOINT, "checkpoint to write"),
    ):
        parser.add_argument(option, type=kind, default=default, help=f"{help_text} (%(default)s)")
    parser.add_argument("--no-attention", action="store_true", help="train the plain decoder")
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on with an interrupted training, with the settings that it had; without this, "
        "training starts anew",
    )


def add_translate(commands: "Commands") -> None:
    """Describe `translate`."""
    text = "translate a sentence, or a file or standard input with a sentence a line"
    parser = commands.add_parser("translate", help=text, description=text)
    source = parser.add_mutually_exclusive_group()
    source.add_argument("sentence", nargs="*", default=[], help="the words of one sentence")
    source.add_argument("--file", type=Path, help="a text file in UTF-8")
    add_search(parser)


def add_heatmap(commands: "Commands") -> None:
    """Describe `heatmap`."""
    text = "translate a sentence and draw where the decoder looks"
    parser = commands.add_parser("heatmap", help=text, description=text)
    parser.add_argument("sentence", nargs="+", help="the words of one sentence")
    parser.add_argument(
        "--output", type=Path, default=Path("heatmap.png"), help="PNG to write (%(default)s)"
    )
    add_search(parser)


def add_tree(commands: "Commands") -> None:
    """Describe `tree`."""
    text = "translate a sentence and draw what the beam search looked at"
    parser = commands.add_parser("tree", help=text, description=text)
    parser.add_argument("sentence", nargs="+", help="the words of one sentence")
    parser.add_argument(
        "--output", type=Path, default=Path("tree.png"), help="PNG to write (%(default)s)"
    )
    add_search(parser)


def add_search(parser: Parser) -> None:
    """Describe which model to use and how to search."""
    config = SearchConfig()
    for option, kind, default, help_text in (
        ("--model", Path, CHECKPOINT, "checkpoint to read"),
        ("--beam-size", positive, config.beam_size, "hypotheses kept; 1 is greedy"),
        ("--max-length", positive, config.max_length, "most tokens of a translation"),
        ("--alpha", number, config.alpha, "length normalisation; 0 has none and favours short"),
    ):
        parser.add_argument(option, type=kind, default=default, help=f"{help_text} (%(default)s)")


def search_config(arguments: argparse.Namespace) -> SearchConfig:
    """Return the settings of the search."""
    return SearchConfig(arguments.beam_size, arguments.max_length, arguments.alpha)


def train_command(arguments: argparse.Namespace) -> int:
    """Train a model, anew or from where it was interrupted."""
    from nmt import training
    from nmt.corpus import data_directory

    output: Path = arguments.output
    state = training.state_path(output)
    data = training.load_data(data_directory())
    if arguments.resume:
        refuse_settings(arguments)
        run = training.load_state(state, len(data.train))
        note(f"resuming after step {run.step} of {run.total_steps}")
    else:
        if state.exists():
            note(f"starting anew; the unfinished training in {state.name} is dropped")
        sizes = model_config(arguments, len(data.english), len(data.zhoric))
        run = training.start(sizes, training_config(arguments), len(data.train))
    try:
        best = training.train(run, data, output)
    except KeyboardInterrupt:
        where = "" if output == CHECKPOINT else f" --output {output}"
        command = f"go on with: python -m nmt train --resume{where}"
        previous = training.previous_path(output)
        older = f"; {previous.name} has the weights from before" if previous.exists() else ""
        early = f"too early to have anything to save{older}"
        note(f"interrupted; {command if state.exists() else early}")
        return INTERRUPTED
    print(f"best dev BLEU {best:.2f}, weights in {output}")
    if output == CHECKPOINT and run.model.config.attention:
        print("next: python -m nmt translate the kings see the cats, then: python -m nmt submit")
    return 0


def refuse_settings(arguments: argparse.Namespace) -> None:
    """Refuse settings of a new training beside --resume, which brings its own."""
    asked = model_config(arguments, 1, 1), training_config(arguments)
    if asked != (ModelConfig(1, 1), TrainingConfig()):
        raise InputError("--resume keeps the settings the training had: give only --output with it")


def model_config(arguments: argparse.Namespace, source_size: int, target_size: int) -> ModelConfig:
    """Return the model's settings."""
    return ModelConfig(
        source_size,
        target_size,
        attention=not arguments.no_attention,
        dropout=arguments.dropout,
    )


def training_config(arguments: argparse.Namespace) -> TrainingConfig:
    """Return the settings of the training."""
    return TrainingConfig(
        epochs=arguments.epochs,
        batch_size=arguments.batch_size,
        max_learning_rate=arguments.max_learning_rate,
        clip_norm=arguments.clip_norm,
        seed=arguments.seed,
    )


def translate_command(arguments: argparse.Namespace) -> int:
    """Translate an argument, a file, or standard input."""
    from nmt.corpus import data_directory, load_vocabularies
    from nmt.model import load_checkpoint
    from nmt.translation import translate, unknown_words

    model = load_checkpoint(arguments.model)
    english, zhoric = load_vocabularies(data_directory())
    for sentences in sentence_groups(arguments):
        if unknown := sorted({w for line in sentences for w in unknown_words(english, line)}):
            note(f"not in the vocabulary, read as <unk>: {' '.join(unknown)}{hint(unknown)}")
        config = asdict(search_config(arguments))
        for translation in translate(model, english, zhoric, sentences, **config):
            print(translation, flush=True)
    return 0


def hint(unknown: Sequence[str]) -> str:
    """Say what to do about words that a full stop or a comma hangs on."""
    marked = any(word.strip(string.punctuation) != word for word in unknown)
    return " (leave out full stops and other marks)" if marked else ""


def sentence_groups(arguments: argparse.Namespace) -> Iterator[list[str]]:
    """Yield what to translate: everything at once, but line by line from a terminal."""
    if arguments.sentence:
        yield [" ".join(arguments.sentence)]
    elif arguments.file:
        yield read_lines(arguments.file)
    elif sys.stdin.isatty():
        note("one English sentence a line; end with Ctrl-D (on Windows Ctrl-Z and Enter)")
        yield from ([line] for line in sys.stdin)
    else:
        # Bytes that are no UTF-8 make an unknown word, not an error.
        text = sys.stdin.buffer.read().decode("utf-8-sig", errors="replace")
        yield text.removesuffix("\n").split("\n") if text else []


def heatmap_command(arguments: argparse.Namespace) -> int:
    """Draw the attention of one translation."""
    from nmt.corpus import data_directory, load_vocabularies
    from nmt.heatmap import draw_heatmap
    from nmt.model import load_checkpoint
    from nmt.translation import translate_with_attention

    model = load_checkpoint(arguments.model)
    vocabularies = load_vocabularies(data_directory())
    sentence = " ".join(arguments.sentence)
    translation = translate_with_attention(model, *vocabularies, sentence, search_config(arguments))
    draw_heatmap(translation, arguments.output)
    print(f"{' '.join(translation.target[:-1])}\nattention drawn in {arguments.output}")
    return 0


def tree_command(arguments: argparse.Namespace) -> int:
    """Draw the beam search of one translation."""
    from nmt.beam_tree import draw_tree, record_sentence
    from nmt.corpus import data_directory, load_vocabularies
    from nmt.model import load_checkpoint

    model = load_checkpoint(arguments.model)
    english, zhoric = load_vocabularies(data_directory())
    sentence = " ".join(arguments.sentence)
    tree = record_sentence(model, english, zhoric, sentence, search_config(arguments))
    figure = draw_tree(tree, zhoric)
    write_atomically(arguments.output, lambda path: figure.savefig(path, format="png", dpi=150))
    print(f"{' '.join(zhoric.decode(tree.words))}\nbeam search drawn in {arguments.output}")
    return 0


def check_command(argv: list[str]) -> int:
    """Run the tests."""
    from nmt import checking

    return checking.main(argv)


def submit_command(argv: list[str]) -> int:
    """Write the submission."""
    from nmt import submission

    return submission.main(argv)


def use_one_thread() -> None:
    """Let torch compute in one thread.

    Sums shared out over threads round differently, so the weights would depend on the number of
    cores. The products are small: more threads save little, and on a busy computer they cost much.
    """
    import torch

    torch.set_num_threads(1)


def note(text: str) -> None:
    """Tell the user something that is not the result."""
    print(text, file=sys.stderr)


def run(argv: list[str]) -> int:
    """Choose the command and run it."""
    if argv and argv[0] == "check":
        return check_command(argv[1:])
    if argv and argv[0] == "submit":
        return submit_command(argv[1:])
    arguments = build_parser().parse_args(argv)
    use_one_thread()
    command = {
        "train": train_command,
        "translate": translate_command,
        "heatmap": heatmap_command,
        "tree": tree_command,
    }[arguments.command]
    return command(arguments)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status."""
    return guarded(lambda: run(list(sys.argv[1:] if argv is None else argv)))


def guarded(command: Callable[[], int]) -> int:
    """Run something; return its exit status, 1 with one line if the user can mend what failed.

    Other exceptions keep their traceback: they are a task's bug, and it says where.
    """
    try:
        return command()
    except InputError as error:
        note(f"error: {error}")
    except NotImplementedError as error:
        if not str(error).startswith("Task "):
            raise
        note(f"error: {error}")
    except SyntaxError as error:
        note(f"error: {error.filename}, line {error.lineno}: {error.msg}")
    except ModuleNotFoundError as error:
        if (error.name or "nmt").startswith("nmt"):
            raise
        note(f"error: {error.name} is not installed; run: pip install -r requirements.txt")
    except BrokenPipeError:  # the reader, `head` for one, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        note("interrupted")
        return INTERRUPTED
    return 1
