"""Run parts, some at a time, each once; what fails does not stop the others."""

from __future__ import annotations

import importlib
import math
import multiprocessing
import os
import platform
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from tqdm import tqdm

from labs.part import Context, Function, Part
from labs.store import changed, keep, key, place, read, stored
from nmt.cli import note
from nmt.files import InputError
from nmt.worker import describe

if TYPE_CHECKING:
    from multiprocessing.queues import SimpleQueue

REFRESH = 0.2  # seconds between two looks at what the processes report

Told = tuple[str, float]  # the name of a part and the share of it that is done


@dataclass(frozen=True)
class Job:
    """Hold a part with its place, which is fixed before anything runs: sources may be edited."""

    part: Part
    folder: Path
    path: Path
    before: Path | None  # the place of the part before it
    since: float  # when the place was fixed, as files have their times

    @classmethod
    def of(cls, part: Part, folder: Path) -> Job:
        """Find the places of a part."""
        before = place(part.before, folder) if part.before else None
        return cls(part, folder, place(part, folder), before, time.time())


@dataclass(frozen=True)
class Failure:
    """Hold why a part has found nothing."""

    part: Part
    reason: str  # in one line


def do(job: Job, tell: Callable[[float], None]) -> None:
    """Run a part in one thread and store what it found.

    Raises:
        InputError: if a file that decides its figures was edited, or a figure is not a number.
    """
    torch.set_num_threads(1)  # sums in one order, and as many processes as cores
    part, path = job.part, job.path
    path.parent.mkdir(parents=True, exist_ok=True)
    given = read(job.before)["figures"] if job.before else {}
    started = time.process_time()
    work: Function = getattr(importlib.import_module(part.module), part.function)
    figures = work(part.settings, part.seed, Context(tell, path.with_suffix(""), given))
    if place(part, job.folder) != path:
        files = ", ".join(changed(part, job.since)) or "data"
        raise InputError(f"{files} changed while this ran: run it again")
    if not finite(figures):
        tasks = f": look at {', '.join(part.needs)}" if part.needs else ""
        raise InputError(f"a figure is infinite or not a number{tasks}")
    record = {
        "part": part.name,
        "key": key(part),
        "figures": figures,
        "seconds": round(time.process_time() - started, 2),
        "machine": machine(),
        "date": f"{datetime.now(timezone.utc):%Y-%m-%d}",
    }
    keep(path, record)


def attempt(job: Job, tell: Callable[[float], None]) -> str | None:
    """Run a part; return what went wrong, if something did."""
    try:
        tell(0.0)
        do(job, tell)
    except (Exception, SystemExit) as error:  # whatever a half-written file does
        told = isinstance(error, InputError | NotImplementedError)
        return str(error) if told else describe(error)
    return None


def finite(value: Any) -> bool:
    """Tell whether all numbers in nested lists and dicts are finite."""
    if isinstance(value, dict):
        return all(map(finite, value.values()))
    if isinstance(value, list | tuple):
        return all(map(finite, value))
    return not isinstance(value, float) or math.isfinite(value)


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
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when the main one is gone, however that ended."""
    parent = multiprocessing.parent_process()
    assert parent
    parent.join()
    os._exit(1)


def _attempt_there(job: Job) -> str | None:
    """Run a part in a process of the pool."""
    assert _queue is not None
    queue = _queue
    return attempt(job, lambda share: queue.put((job.part.name, share)))


@dataclass
class Bar:
    """Show how many parts are done, and what the running ones are at."""

    bar: tqdm[Any]
    shares: dict[str, float] = field(default_factory=dict)

    def tell(self, name: str, share: float) -> None:
        """Note that a part has come so far."""
        self.shares[name] = share
        self.bar.n = round(math.fsum(self.shares.values()), 2)
        self.bar.set_description_str(f"{shortened(name)} {share:.0%}", refresh=False)
        self.bar.update(0)  # draws it, if the last time was long enough ago

    def finish(self, name: str) -> None:
        """Note that a part is over; where there is no bar, in a log for one, print a line."""
        self.tell(name, 1.0)
        if self.bar.disable:
            over = sum(share == 1.0 for share in self.shares.values())
            note(f"{over}/{self.bar.total} {name}")

    def running(self) -> list[str]:
        """Name the parts that have begun and are not over."""
        return [name for name, share in self.shares.items() if share < 1.0]


def shortened(name: str) -> str:
    """Return a part's name in 60 characters; the seed at its end stays."""
    return name if len(name) <= 60 else f"{name[:48]} … {name[-9:]}"


def run(parts: Sequence[Part], folder: Path, jobs: int) -> list[Failure]:
    """Run what has not been run yet; return what failed, which stops only what needs it.

    A part that others need comes first; one that takes times comes last, with nothing beside it.
    """
    first = [part.before for part in parts if part.before]
    wanted = {place(part, folder): part for part in (*first, *parts) if not stored(part, folder)}
    todo = [Job.of(part, folder) for part in wanted.values()]
    alone = [job for job in todo if job.part.alone]
    others = [job for job in todo if not job.part.alone]
    return run_some(others, min(jobs, len(others))) + run_some(alone, 1)


def run_some(todo: Sequence[Job], processes: int) -> list[Failure]:
    """Run parts in this process, or in several."""
    if not todo:
        return []
    layout = "{percentage:3.0f}%|{bar:20}| {n:.1f}/{total} [{elapsed}<{remaining}] {desc}"
    # Some parts take minutes: every report of theirs may move the bar (miniters).
    with tqdm(total=len(todo), bar_format=layout, miniters=0, disable=None) as line:
        if line.disable:  # a log, whose first line would else come with the first part
            note(f"{len(todo)} parts to run, {processes} at a time; some take minutes each")
        queue = Queue(list(todo), Bar(line))
        if processes > 1:
            _run_together(queue, processes)
        else:
            for job in queue.ready():
                queue.finish(job, attempt(job, partial(queue.bar.tell, job.part.name)))
    return queue.failures


@dataclass
class Queue:
    """Hold the parts that wait, are running, and have failed."""

    waiting: list[Job]
    bar: Bar
    running: list[Job] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    def ready(self) -> Iterator[Job]:
        """Yield the parts that can run: what they need is there, or has failed."""
        for job in list(self.waiting):
            if job.before not in {other.path for other in (*self.waiting, *self.running)}:
                self.waiting.remove(job)
                if job.before and not job.before.is_file():
                    self.finish(job, "the training that it needs has failed")
                else:
                    self.running.append(job)
                    yield job

    def finish(self, job: Job, reason: str | None) -> None:
        """Note that a part is over."""
        if job in self.running:
            self.running.remove(job)
        if reason:
            self.failures.append(Failure(job.part, reason))
        self.bar.finish(job.part.name)


def _run_together(queue: Queue, processes: int) -> None:
    """Run parts in processes of their own, some at a time.

    Raises:
        InputError: if a process was killed.
    """
    context = multiprocessing.get_context("spawn")  # a forked torch may hang in its threads
    told: SimpleQueue[Told] = context.SimpleQueue()
    jobs: dict[Future[str | None], Job] = {}
    with ProcessPoolExecutor(processes, context, _start, (told,)) as pool:
        try:
            while queue.waiting or queue.running:
                jobs |= {pool.submit(_attempt_there, job): job for job in queue.ready()}
                done, _ = wait(jobs, REFRESH, FIRST_COMPLETED)
                while not told.empty():
                    queue.bar.tell(*told.get())
                for future in done:
                    queue.finish(jobs.pop(future), future.result())
        except BrokenProcessPool:
            names = "; ".join(queue.bar.running()) or "none yet"
            raise InputError(
                f"a process was killed while these ran: {names}. Is memory short? Try --jobs 1"
            ) from None
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in multiprocessing.active_children():  # a part can take minutes
                child.terminate()
            raise
