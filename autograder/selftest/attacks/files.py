"""Submit files that are not what they seem, and write where nothing may be written."""

from __future__ import annotations

import io
import pickle
import zipfile

from autograder.selftest.attacks.entry import Attack, attempts, right

LOUD = "raise SystemExit('a file that does not count was imported')\n"
SHADOWS = (
    *("torch.py", "random.py", "json.py", "socket.py", "safetensors.py", "typing.py"),
    *("sitecustomize.py", "usercustomize.py", "conftest.py", "setup.py", "wire.py", "worker.py"),
    *("confine.py", "deeper/probes/lstm.py", "probes/__init__.py", "nmt/__init__.py"),
    *("nmt/model.py", "nmt/conftest.py", "autograder/__init__.py", "assignment/facts.py"),
    *("t.py", "helper.py"),
)
SETTINGS = {
    "pytest.ini": "[pytest]\naddopts = --collect-only\n",
    "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--collect-only'\n",
    "evil.pth": "import os; os._exit(0)\n",
    "assignment/assignment.toml": "title = 'full points'\n",
    "results.json": '{"score": 100}',
    "setup.sh": "exit 0\n",
    "run_autograder": "#!/bin/sh\nexit 0\n",
    "Makefile": "grade:\n\techo 100\n",
}


class Payload:
    """Unpickle to a call."""

    def __reduce__(self) -> tuple[object, ...]:
        return (open, ("/tmp/nmt-unpickled", "w"))


# A value that pickle would run, and one that only looks like a pair of tensors.
REDUCE = """
class Payload:
    def __reduce__(self):
        return (open, ("/tmp/nmt-unpickled", "w"))
LSTMCell.forward = lambda self, x, state: (Payload(), Payload())
"""

# Left in `scratch` for whoever removes it, and for whoever follows links.
TRAPS = """
import os, shutil
os.symlink("@OUT@", "results")
os.symlink("@PROJECT@", "project")
os.symlink("..", "up")
os.mkfifo("fifo")
open("-rf", "w").close()
open("a\\nb\\udcff", "w").close()
open("program", "wb").write(open("/bin/true", "rb").read())
os.chmod("program", 0o6777)
for _ in range(400):
    os.mkdir("x" * 200)
    os.chdir("x" * 200)
os.chmod(os.getcwd() if False else ".", 0)
"""


def bomb() -> bytes:
    """Return a zip within the submission that holds far more than it weighs."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("nmt/lstm.py", bytes(50_000_000))
    return buffer.getvalue()


ATTACKS = [
    Attack(
        "shadows-modules-and-settings",
        right("lstm", "import random, json, socket, typing"),
        ("passed",),
        points=20,
        more={**dict.fromkeys(SHADOWS, LOUD), **SETTINGS, "nested.zip": bomb()},
    ),
    Attack(
        "checkpoint-is-a-pickle",
        "",
        ("failed",),
        task="translate",
        words="not a readable safetensors file",
        more={"model.safetensors": pickle.dumps(Payload())},
    ),
    Attack(
        "checkpoint-of-an-impossible-size",
        "",
        ("failed",),
        task="translate",
        words="not a readable safetensors file",
        more={
            "model.safetensors": b"\x58".ljust(8, b"\x00")
            + b'{"a":{"dtype":"F32","shape":[0,4611686018427387904,9],"data_offsets":[0,0]}}'.ljust(
                88
            )
        },
    ),
    Attack("returns-what-pickle-would-run", right("lstm", REDUCE), ("failed",)),
    Attack("leaves-traps-in-its-folder", right("lstm", TRAPS), ("passed",), points=20),
    attempts(
        "writes-elsewhere",
        *(
            f"open('{path}', 'a')"
            for path in (
                *("@OUT@/results.json", "@OUT@/new", "@PROJECT@/new", "/autograder/run_autograder"),
                *(
                    "@PROJECT@/autograder/gradescope/run_autograder",
                    "@PROJECT@/autograder/grade.py",
                ),
                *("/tmp/nmt-outside", "/var/tmp/nmt-outside", "/dev/shm/nmt-outside"),
                *("/run/nmt-autograder/61184", "../new", "../nmt/lstm.py", "../probes/lstm.py"),
                *("../worker.py", "../wire.py", "../../new", "/dev/full", "/etc/ld.so.preload"),
            )
        ),
        "os.rename('../nmt', '../other')",
        "os.rename(os.getcwd(), '/tmp/nmt-outside')",
        "os.rmdir('../data')",
        "os.unlink('../worker.py')",
        "os.chmod('..', 0o777)",
        "os.chown('.', 0, 0)",
        "os.link('/etc/hostname', 'linked')",
        "os.symlink('x', '../nmt/x')",
        "open('link-out', 'a') if os.symlink('/tmp/nmt-outside', 'link-out') is None else None",
        "os.truncate('../wire.py', 0)",
        "os.utime('../worker.py')",
        "os.setxattr('../worker.py', 'user.x', b'x')",
    ),
]
