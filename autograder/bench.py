"""Measure grading of the reference: time, peak memory of all processes, and what isolation costs.

Memory is the sum of the proportional set sizes, so that pages which processes share count once.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from assignment.facts import load
from autograder.selftest.harness import WarmWorker, reference_files, run_task

PROJECT = Path(__file__).resolve().parents[1]
INTERVAL = 0.05  # seconds between two looks at the memory
RUNS = 3


def main() -> None:
    """Print the figures, each as a median of several runs."""
    measured = [run([]) for _ in range(RUNS)]
    print("make grade, reference, environment ready:")
    show("seconds", [seconds for seconds, _ in measured])
    show("peak memory, MB", [peak / 1e6 for _, peak in measured])
    tasks = list(load().task_files)
    pairs = [(run(["--tasks", ",".join(tasks)])[0], in_one_process(tasks)) for _ in range(RUNS)]
    print("hidden tests of the five tasks, isolated against one plain process:")
    show("isolated, seconds", [isolated for isolated, _ in pairs])
    show("plain, seconds", [plain for _, plain in pairs])
    show("ratio, pair by pair", [isolated / plain for isolated, plain in pairs])


def show(what: str, values: list[float]) -> None:
    """Print the median and the range of one figure."""
    median = statistics.median(values)
    print(f"  {what:<22}{median:8.2f}   (min {min(values):.2f}, max {max(values):.2f})", flush=True)


def run(arguments: list[str]) -> tuple[float, float]:
    """Grade the reference once: seconds, and bytes at the peak."""
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-B", "-m", "autograder.grade", "--out", out, *arguments]
        started = time.monotonic()
        process = psutil.Popen(command, cwd=PROJECT, stdout=subprocess.DEVNULL)
        peak = 0
        while process.poll() is None:
            peak = max(peak, memory(process))
            time.sleep(INTERVAL)
        if process.returncode != 0:
            raise SystemExit(f"{' '.join(command)} ended with status {process.returncode}")
        return time.monotonic() - started, float(peak)


def memory(process: psutil.Process) -> int:
    """Sum the proportional set sizes of a process and its descendants, in bytes."""
    total = 0
    try:
        for member in (process, *process.children(recursive=True)):
            total += member.memory_full_info().pss
    except psutil.NoSuchProcess:
        return total  # it ended while we looked
    return total


def in_one_process(tasks: list[str]) -> float:
    """Run the same tests with one plain worker for all tasks, its start and pytest's included."""
    started = time.monotonic()
    command = [sys.executable, "-B", "-m", "autograder.bench", "--plain", *tasks]
    subprocess.run(command, cwd=PROJECT, stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - started


def plain(tasks: list[str]) -> None:
    """Run the tasks' tests in one warm worker."""
    worker = WarmWorker()
    for task in tasks:
        run_task(worker, task, reference_files())
    worker.close()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--plain"]:
        plain(sys.argv[2:])
    else:
        main()
