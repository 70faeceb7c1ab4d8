"""The command line: what it prints, and how it ends."""

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import pytest
import torch

from nmt import cli, training
from nmt.files import HOME
from nmt.model import Seq2Seq, load_checkpoint, save_checkpoint
from nmt.settings import ModelConfig

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """Write an untrained model."""
    path = tmp_path / "model.safetensors"
    save_checkpoint(Seq2Seq(ModelConfig(9, 8, encoder_size=5, decoder_size=7)), path)
    return path


@pytest.fixture
def train(data: Path, checkpoint: Path) -> Callable[..., int]:
    """Return a call of the command `train` that writes over the checkpoint."""
    return lambda *options: cli.main(["train", "--output", str(checkpoint), *options])


def _raiser(error: BaseException) -> Callable[..., NoReturn]:
    def raise_it(*_: object) -> NoReturn:
        raise error

    return raise_it


def _stdin(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), encoding="ascii"))


def test_module_runs() -> None:
    """Does `python -m nmt --help` list the six commands?"""
    result = subprocess.run(
        [sys.executable, "-B", "-m", "nmt", "--help"], cwd=HOME, capture_output=True, text=True
    )
    assert result.returncode == 0
    for command in ("check", "train", "translate", "heatmap", "tree", "submit"):
        assert f"    {command} " in result.stdout


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ([], "required: command"),
        (["learn"], "invalid choice: 'learn'"),
        (["train", "--epochs", "0"], "--epochs: expected a whole number of at least 1, got '0'"),
        (["train", "--dropout", "nan"], "--dropout: expected a number of at least 0, got 'nan'"),
        (["train", "--seed", "-1"], "--seed: expected a whole number below 2**32, got '-1'"),
        (["translate", "--beam-size", "two"], "at least 1, got 'two'"),
        (["translate", "cat", "--file", "x"], "not allowed with"),
        (["heatmap"], "required: sentence"),
        (["tree"], "required: sentence"),
    ],
)
def test_wrong_usage_is_one_line(argv: list[str], message: str, capsys: Capture) -> None:
    """Does wrong usage end with status 2 and a single line?"""
    with pytest.raises(SystemExit) as caught:
        cli.main(argv)
    assert caught.value.code == 2
    out, err = capsys.readouterr()
    assert message in err
    assert out == ""
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (
            NotImplementedError(
                "Task lstm is not implemented yet: LSTMCell.forward in nmt/lstm.py"
            ),
            "error: Task lstm is not implemented yet: LSTMCell.forward in nmt/lstm.py\n",
        ),
        (
            ModuleNotFoundError("no", name="torch"),
            "error: torch is not installed; run: pip install -r requirements.txt\n",
        ),
        (SyntaxError("bad", ("nmt/lstm.py", 7, 1, "x")), "error: nmt/lstm.py, line 7: bad\n"),
    ],
)
def test_what_a_student_can_mend_is_one_line(
    train: Callable[..., int],
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
    error: Exception,
    line: str,
) -> None:
    """Is a stub, a syntax error or a missing package reported without a traceback?"""
    monkeypatch.setattr("nmt.lstm.LSTMCell.forward", _raiser(error))
    assert train() == 1
    assert capsys.readouterr().err == line


def test_bugs_keep_their_traceback(
    train: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Does an exception of a task's code come through, so that one can see where it is?"""
    monkeypatch.setattr("nmt.lstm.LSTMCell.forward", _raiser(NotImplementedError("no such op")))
    with pytest.raises(NotImplementedError, match="no such op"):
        train()
    monkeypatch.setattr("nmt.lstm.LSTMCell.forward", _raiser(ValueError("a bug")))
    with pytest.raises(ValueError, match="a bug"):
        train()


def test_missing_data_is_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Capture
) -> None:
    """Is missing data an error of one line?"""
    monkeypatch.setenv("NMT_DATA", str(tmp_path / "none"))
    assert cli.main(["train"]) == 1
    assert capsys.readouterr().err.startswith("error: NMT_DATA names ")


def test_train_writes_a_checkpoint(
    train: Callable[..., int], checkpoint: Path, capsys: Capture
) -> None:
    """Does `train` write the checkpoint, say what it did, and keep the one that was there?"""
    before = checkpoint.read_bytes()
    assert train("--epochs", "1", "--no-attention") == 0
    assert not load_checkpoint(checkpoint).config.attention
    kept, epoch, best = capsys.readouterr().out.splitlines()
    assert kept == "the weights of the training before are kept in model.previous.safetensors"
    assert epoch.startswith("epoch 1/1: loss ")
    assert best.startswith("best dev BLEU ")  # and no next step: others load the default's place
    previous = checkpoint.with_name("model.previous.safetensors")
    assert previous.read_bytes() == before
    assert set(checkpoint.parent.glob("model*")) == {checkpoint, previous}


def test_train_says_what_comes_next(
    train: Callable[..., int], checkpoint: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """Are the next commands named, if the weights lie where these look for them?"""
    monkeypatch.setattr(cli, "CHECKPOINT", checkpoint)
    assert train("--epochs", "1") == 0
    assert "then: python -m nmt submit" in capsys.readouterr().out
    assert train("--epochs", "1", "--no-attention") == 0
    assert "submit" not in capsys.readouterr().out


def test_the_number_of_cores_does_not_matter(
    train: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Is torch told to compute in one thread?"""
    threads: list[int] = []
    monkeypatch.setattr(torch, "set_num_threads", threads.append)
    assert train("--epochs", "1", "--no-attention") == 0
    assert threads == [1]


def test_an_interrupted_training_says_how_to_go_on(
    train: Callable[..., int], checkpoint: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """Does Ctrl-C print a command, and does that command finish the training?"""
    original = training.train_epoch

    def second_is_interrupted(run: training.Run, *others: Any) -> float:
        if run.step == 1:
            raise KeyboardInterrupt
        return original(run, *others)

    with monkeypatch.context() as context:
        context.setattr(training, "train_epoch", second_is_interrupted)
        assert train("--no-attention") == 130
    resume = f"python -m nmt train --resume --output {checkpoint}"
    assert capsys.readouterr().err == f"interrupted; go on with: {resume}\n"

    assert train("--resume", "--seed", "7") == 1
    assert "keeps the settings" in capsys.readouterr().err
    assert train("--resume") == 0
    assert "resuming after step 1 of 2" in capsys.readouterr().err
    assert not load_checkpoint(checkpoint).config.attention
    assert train("--resume") == 1
    assert "nothing to resume" in capsys.readouterr().err


def test_an_interruption_before_anything_is_saved(
    train: Callable[..., int], checkpoint: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """Is no command promised that would find nothing, nor an older state that would be found?"""
    training.state_path(checkpoint).write_bytes(b"an older training")
    monkeypatch.setattr(training, "train_step", _raiser(KeyboardInterrupt()))
    assert train() == 130
    assert "too early" in capsys.readouterr().err
    assert not training.state_path(checkpoint).exists()


def test_training_anew_says_that_it_could_resume(
    train: Callable[..., int], checkpoint: Path, capsys: Capture
) -> None:
    """Is an unfinished training mentioned before it is written over?"""
    training.state_path(checkpoint).write_bytes(b"anything")
    assert train("--epochs", "1", "--no-attention") == 0
    assert "starting anew" in capsys.readouterr().err


@pytest.mark.usefixtures("data")
def test_translate_an_argument_a_file_and_standard_input(
    checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """Do the three kinds of input give the same, empty lines kept, unknown words noted?"""
    model = ["translate", "--model", str(checkpoint), "--max-length", "4"]
    assert cli.main([*model, "the", "cat"]) == 0
    one, errors = capsys.readouterr()
    assert one.count("\n") == 1
    assert errors == ""

    text = "the cat\r\n\r\nThe  Peru cat\r\n\u00e9".encode()  # as an editor on Windows writes it
    (tmp_path / "text").write_bytes(b"\xef\xbb\xbf" + text)
    assert cli.main([*model, "--file", str(tmp_path / "text")]) == 0
    lines, errors = capsys.readouterr()
    assert lines.split("\n")[:2] == [one.strip("\n"), ""]
    assert lines.count("\n") == 4
    assert errors == "not in the vocabulary, read as <unk>: peru \u00e9\n"

    _stdin(monkeypatch, text)
    assert cli.main(model) == 0
    assert capsys.readouterr().out == lines
    _stdin(monkeypatch, b"")
    assert cli.main(model) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("data")
def test_a_full_stop_is_no_part_of_a_word(checkpoint: Path, capsys: Capture) -> None:
    """Is somebody who writes a full stop told why the last word is unknown?"""
    model = ["translate", "--model", str(checkpoint), "--max-length", "4"]
    assert cli.main([*model, "the", "cat."]) == 0
    assert capsys.readouterr().err.endswith("<unk>: cat. (leave out full stops and other marks)\n")


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("command", ["heatmap", "tree"])
def test_pictures_are_written(
    command: str, checkpoint: Path, tmp_path: Path, capsys: Capture
) -> None:
    """Do `heatmap` and `tree` write a PNG and say where?"""
    picture = tmp_path / "cat.png"
    arguments = ["the cat", "--model", str(checkpoint), "--output", str(picture)]
    assert cli.main([command, *arguments, "--max-length", "4"]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert str(picture) in capsys.readouterr().out


@pytest.mark.usefixtures("data")
def test_a_reader_that_goes_away_is_no_error(checkpoint: Path) -> None:
    """Does `translate | head` end without a traceback?"""
    command = [sys.executable, "-B", "-m", "nmt", "translate", "--model", str(checkpoint), "cat"]
    with subprocess.Popen(
        command, cwd=HOME, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""


def test_a_place_where_one_cannot_write_is_one_line(
    data: Path, train: Callable[..., int], capsys: Capture
) -> None:
    """Is a file in the place of a folder an error of one line?"""
    assert train("--epochs", "1", "--output", str(data / "train.tsv" / "model.safetensors")) == 1
    assert capsys.readouterr().err.startswith(f"error: cannot write {data / 'train.tsv'}")


@pytest.mark.parametrize("command", ["translate", "heatmap", "tree"])
def test_no_checkpoint_is_one_line(command: str, tmp_path: Path, capsys: Capture) -> None:
    """Does a missing checkpoint name the command that makes one?"""
    assert cli.main([command, "the cat", "--model", str(tmp_path / "none")]) == 1
    assert capsys.readouterr().err.endswith("train one with: python -m nmt train\n")


@pytest.mark.parametrize(
    ("command", "module"), [("check", "nmt.checking"), ("submit", "nmt.submission")]
)
def test_check_and_submit_read_their_own_arguments(
    command: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Are arguments and exit status handed through?"""
    seen: list[list[str]] = []
    fake = ModuleType(module)

    def fake_main(argv: list[str]) -> int:
        seen.append(argv)
        return 5

    vars(fake)["main"] = fake_main
    monkeypatch.setitem(sys.modules, module, fake)
    monkeypatch.setattr(module, fake, raising=False)
    assert cli.main([command, "--anything", "lstm"]) == 5
    assert seen == [["--anything", "lstm"]]


def test_check_needs_no_task_that_can_be_imported() -> None:
    """Does the command line start without torch and without the tasks?"""
    code = "import sys, nmt.cli; print(*[m for m in sys.modules if m == 'torch' or 'lstm' in m])"
    result = subprocess.run(
        [sys.executable, "-B", "-c", code], cwd=HOME, capture_output=True, text=True, check=True
    )
    assert result.stdout == "\n"
