"""Run parts, some at a time, each once."""

from __future__ import annotations

import importlib
import math
import multiprocessing
import platform
import signal
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from tqdm import tqdm

from labs.part import Context, Function, Part
from labs.store import keep, key, place, read
from nmt.files import InputError

if TYPE_CHECKING:
    from multiprocessing.queues import SimpleQueue

REFRESH = 0.2  # seconds between two looks at what the processes report

Told = tuple[str, float]  # the name of a part and the share of it that is done


@dataclass(frozen=True)
class Job:
    """Hold a part with its place, which is fixed before anything runs: sources may be edited."""

    part: Part
    path: Path
    before: Path | None  # the place of the part before it

    @classmethod
    def of(cls, part: Part, folder: Path) -> Job:
        """Find the places of a part."""
        return cls(part, place(part, folder), place(part.before, folder) if part.before else None)


def do(job: Job, tell: Callable[[float], None]) -> None:
    """Run a part in one thread and store what it found."""
    torch.set_num_threads(1)  # sums in one order, and as many processes as cores
    part, path = job.part, job.path
    path.parent.mkdir(parents=True, exist_ok=True)
    given = read(job.before)["figures"] if job.before else {}
    started = time.process_time()
    work: Function = getattr(importlib.import_module(part.module), part.function)
    figures = work(part.settings, part.seed, Context(tell, path.with_suffix(""), given))
    if place(part, path.parent.parent) != path:
        raise InputError(f"a file that decides it was edited while it ran: {part.name}")
    record = {
        "part": part.name,
        "key": key(part),
        "figures": figures,
        "seconds": round(time.process_time() - started, 2),
        "machine": machine(),
        "date": f"{datetime.now(timezone.utc):%Y-%m-%d}",
    }
    keep(path, record)


def machine() -> str:
    """Describe the processor and the versions."""
    return f"{processor()}, Python {platform.python_version()}, torch {torch.__version__}"


def processor() -> str:
    """Name the processor as well as the system can."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()


_queue: SimpleQueue[Told] | None = None  # of a process of the pool


def _start(queue: SimpleQueue[Told]) -> None:
    global _queue
    _queue = queue
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # after Ctrl-C the main process ends this one


def _do_there(job: Job) -> None:
    """Run a part in a process of the pool."""
    assert _queue is not None
    queue = _queue
    do(job, lambda share: queue.put((job.part.name, share)))


@dataclass
class Bar:
    """Show how many parts are done, and what the running ones are at."""

    bar: tqdm[Any]
    shares: dict[str, float]

    def tell(self, name: str, share: float) -> None:
        """Note that a part has come so far."""
        self.shares[name] = share
        self.bar.n = round(math.fsum(self.shares.values()), 2)
        self.bar.set_description_str(f"{name[:60]} {share:.0%}", refresh=False)
        self.bar.update(0)  # draws it, if the last time was long enough ago


def run(parts: Sequence[Part], folder: Path, jobs: int) -> None:
    """Run what has not been run yet; parts that others need come first."""
    first = [part.before for part in parts if part.before]
    waves = [[Job.of(part, folder) for part in wave] for wave in (first, parts)]
    for wave in waves:
        distinct = {job.path: job for job in wave}
        todo = [job for path, job in distinct.items() if not path.is_file()]
        if todo:
            _run_wave(todo, min(jobs, len(todo)))


def _run_wave(todo: Sequence[Job], processes: int) -> None:
    """Run parts that do not need each other."""
    layout = "{percentage:3.0f}%|{bar:20}| {n:.1f}/{total} [{elapsed}<{remaining}] {desc}"
    # Some parts take minutes: every report of theirs may move the bar (miniters).
    with tqdm(total=len(todo), bar_format=layout, miniters=0, disable=None) as line:
        bar = Bar(line, {})
        if processes == 1:
            for job in todo:
                do(job, partial(bar.tell, job.part.name))
                bar.tell(job.part.name, 1.0)
        else:
            _run_together(todo, processes, bar)


def _run_together(todo: Sequence[Job], processes: int, bar: Bar) -> None:
    """Run parts in processes of their own, some at a time."""
    context = multiprocessing.get_context("spawn")  # a forked torch may hang in its threads
    queue: SimpleQueue[Told] = context.SimpleQueue()
    with ProcessPoolExecutor(processes, context, _start, (queue,)) as pool:
        waiting: dict[Future[None], Job] = {pool.submit(_do_there, job): job for job in todo}
        try:
            while waiting:
                done, _ = wait(waiting, REFRESH, FIRST_COMPLETED)
                while not queue.empty():
                    bar.tell(*queue.get())
                for future in done:
                    future.result()  # raises what the part raised
                    bar.tell(waiting.pop(future).part.name, 1.0)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in multiprocessing.active_children():  # a part can take minutes
                child.terminate()
            raise
