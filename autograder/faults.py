"""What can go wrong while grading: a fault of the grader, or of a submission."""

from __future__ import annotations


class GraderFault(Exception):
    """The grader itself cannot go on; the message is for staff, and nobody gets a score."""


class StudentFault(AssertionError):
    """One test is not passed; the message is for the student.

    `outcome` is what `extra_data` of the test says. `private` is the message without any text that
    the student's code chose, which could quote inputs. `misconception` is the known mistake behind
    it, where the test itself knows it.
    """

    outcome = "failed"
    tells = True  # which mistake it may be

    def __init__(self, message: str, private: str = "", misconception: str | None = None) -> None:
        super().__init__(message)
        self.private = private or message
        self.misconception = misconception


class Mismatch(StudentFault):
    """An answer is wrong."""


class ForbiddenShortcut(StudentFault):
    """The code uses what solves the task: none of the task's tests gives points."""

    tells = False


class NotImplementedYet(StudentFault):
    """The task still has its stub."""

    tells = False


class StudentError(StudentFault):
    """The student's code raised an exception."""

    outcome = "error"


class CallTimeout(StudentFault):
    """A call took longer than it may."""

    outcome = "timeout"


class WorkerCrashed(StudentFault):
    """The worker ended, or broke the channel, in the middle of a call."""

    outcome = "crashed"


class NotRun(StudentFault):
    """A test was not run, for a reason that an earlier test or the intake gave."""

    outcome = "not_run"
