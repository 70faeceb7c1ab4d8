"""Read what a student's code must not see: answers, the grader, its environment."""

from __future__ import annotations

from autograder.selftest.attacks.entry import Attack, attempts

# Looks at everything that Python can reach from inside of the worker.
SEARCH = """
import gc, os, sys
found = []
for name in sorted(sys.modules):
    if name.split(".")[0] in ("autograder", "assignment", "reference", "pytest", "sacrebleu"):
        found.append(name)
for path in sys.path + [value for value in os.environ.values()] + sys.argv:
    if path.startswith("@PROJECT@") or "@OUT@" in path or "held_out" in path:
        found.append(path)
if any("CANARY" in name for name in os.environ):
    found.append("the grader's environment")
requests = [
    thing for thing in gc.get_objects() if type(thing) is dict and {"call", "inputs"} <= set(thing)
]

def look():
    frame = sys._getframe()
    while frame is not None:
        for value in frame.f_locals.values():
            if type(value) is dict and {"call", "inputs"} <= set(value):
                requests.append(value)
        frame = frame.f_back
    for request in requests:
        found.extend(sorted(set(request) - {"call", "inputs", "seed"}))
    if not requests:
        found.append("no request: this search is blind")

class LSTMCell:
    def __init__(self, *sizes):
        look()
        raise RuntimeError(f"DONE {found}")
"""

OPENED = """
def opened():
    links = []
    for number in range(3, 256):
        try:
            links.append(os.readlink(f"/proc/self/fd/{number}"))
        except FileNotFoundError:
            pass
    return [link for link in links if link != "/dev/null" and "landlock" not in link]
"""

ATTACKS = [
    attempts(
        "reads-the-project",
        "os.listdir('@PROJECT@')",
        "open('@PROJECT@/reference/nmt/lstm.py')",
        "open('@PROJECT@/autograder/hidden_tests/test_lstm.py')",
        "open('@PROJECT@/data/held_out/test.tsv')",
        "open('@PROJECT@/data/generate.py')",
        "open('@PROJECT@/assignment/assignment.toml')",
        "os.listdir('@PROJECT@/autograder/hidden_tests/__pycache__')",
        "subprocess.run(['cat', '@PROJECT@/README.md'], check=True)",
        "os.listdir('@OUT@')",
        "os.stat('@OUT@/results.json')",
        "os.chdir('@PROJECT@')",
        "open('/etc/shadow')",
        "os.listdir('/root')",
        "os.listdir('/tmp')",
        "os.listdir('/proc')",
        "os.listdir('../..')",  # where the folders of other workers lie
        # But for the channel, nothing is open: no file or socket of the grader came along.
        "claim(len(opened()) > 1)",
        setup=OPENED,
    ),
    attempts(
        "reads-the-graders-process",
        *(
            f"open('/proc/{process}/{name}', 'rb').read(1)"
            for process in ("@GRADER@", "1")
            for name in ("cmdline", "environ", "mem", "maps", "stat")
        ),
        "os.listdir('/proc/@GRADER@/fd')",
        "os.listdir('/proc/@GRADER@/cwd')",
        "call('ptrace', 16, @GRADER@, 0, 0)",  # attach
        "call('process_vm_readv', @GRADER@, 0, 0, 0, 0, 0)",
        "kernel(438, 0, 0, 0)",  # pidfd_getfd
        "kernel(312, @GRADER@, os.getpid(), 0, 0, 0)",  # kcmp
    ),
    Attack("searches-memory-for-answers", SEARCH, ("error",), words="DONE []"),
]
