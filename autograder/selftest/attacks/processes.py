"""Reach other processes, multiply, or outlive the worker."""

from __future__ import annotations

from autograder.selftest.attacks.entry import Attack, attempts, right, stub

CLONE = """
def clone(flag):
    if kernel(56, flag | 17, 0, 0, 0, 0) == 0:
        os._exit(0)
"""
SURVIVOR = """
import os, signal, time
for number in range(1, signal.NSIG):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
ready, tell = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(tell, b"x")
        while True:  # long after the end
            time.sleep(0.2)
            for path in ("@OUT@/results.json", "/tmp/nmt-survivor", "/dev/shm/nmt-survivor"):
                try:
                    open(path, "w").write('{"score": 100}')
                except OSError:
                    pass
    os._exit(0)
os.read(ready, 1)
"""

# Kills or stops all processes of its own uid, again and again: also one that comes to kill it.
STRIKE_BACK = """
import os, signal
ready, tell = os.pipe()
if os.fork() == 0:
    os.write(tell, b"x")
    while True:
        try:
            os.kill(-1, signal.SIGNAL)
        except OSError:
            pass
os.read(ready, 1)
os._exit(0)
"""
# Never the same process for long: each one forks, and ends.
FORK_AWAY = """
import os
while True:
    try:
        if os.fork():
            os._exit(0)
    except OSError:
        pass
"""
# A thread goes on between calls, and writes into what was returned.
REWRITER = """
import threading, time
_outputs = []
def _rewrite():
    while True:
        time.sleep(0)
        for output in list(_outputs):
            output.data.normal_()
def _forward(self, x, state):
    _outputs[:] = [state[0] * 0, state[1] * 0]
    return tuple(_outputs)
LSTMCell.forward = _forward
threading.Thread(target=_rewrite, daemon=True).start()
"""

ATTACKS = [
    attempts(
        "signals-and-settings-of-others",
        "os.kill(@GRADER@, signal.SIGKILL)",
        "os.kill(@GRADER@, 0)",
        "os.kill(os.getppid(), signal.SIGKILL)",
        "os.kill(1, signal.SIGKILL)",
        "os.killpg(os.getpgid(@GRADER@), signal.SIGKILL)",
        "signal.pidfd_send_signal(os.pidfd_open(@GRADER@), signal.SIGKILL)",
        "os.setpriority(os.PRIO_PROCESS, @GRADER@, 19)",
        "os.sched_setaffinity(@GRADER@, {0})",
        "resource.prlimit(@GRADER@, resource.RLIMIT_NOFILE, (0, 0))",
        "os.nice(-1)",
        "resource.setrlimit(resource.RLIMIT_NPROC, (1000, 1000))",
        "resource.setrlimit(resource.RLIMIT_DATA, (1 << 40, 1 << 40))",
        "open('/proc/self/oom_score_adj', 'w').write('-1000')",
        "open('/proc/self/oom_score_adj', 'w').write('0')",
        "os.setuid(0)",
        "os.setgroups([0])",
        "subprocess.run(['su', '-c', 'true'], stdin=subprocess.DEVNULL, check=True)"
        " if os.path.exists('/bin/su') else claim(False)",
    ),
    attempts(
        "reaches-for-the-kernel",
        "socket.socket()",
        "socket.socket(socket.AF_UNIX)",
        "socket.create_connection(('127.0.0.1', 22))",
        "call('unshare', 1 << 28)",
        "clone(1 << 28)",  # a user namespace
        "clone(1 << 30)",  # a network of its own
        "kernel(425, 8, 0)",  # io_uring_setup
        "kernel(321, 0, 0, 0)",  # bpf
        "kernel(298, 0, 0, 0, 0, 0)",  # perf_event_open
        "kernel(103, 10, 0, 0)",  # syslog
        "os.chroot('.')",
        "call('mount', b'x', b'.', b'tmpfs', 0, 0)",
        "os.mknod('device', 0o20666, os.makedev(1, 3))",
        "open('/dev/kmsg')",
        "open('/dev/mem', 'rb')",
        "open('/dev/ptmx', 'r+b')",
        "open('/dev/tty', 'r+b')",
        setup=CLONE,
    ),
    Attack("survives-beside-a-right-answer", right("lstm", SURVIVOR), ("passed",), points=20),
    Attack("survives-its-worker", f"{SURVIVOR}\nos._exit(0)", ("crashed",), words="exit status 0"),
    *(
        Attack(f"strikes-back-by-{name}", STRIKE_BACK.replace("SIGNAL", name), ("crashed",))
        for name in ("SIGKILL", "SIGSTOP")
    ),
    Attack("forks-away", FORK_AWAY, ("crashed",)),
    Attack("stops-itself", "import os\nos.kill(os.getpid(), 19)", ("timeout",)),
    Attack("rewrites-answers-from-a-thread", stub("lstm", REWRITER), ("failed",)),
]
