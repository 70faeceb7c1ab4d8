"""All written questions, in order."""

from __future__ import annotations

from assignment.written.questions import attention, recurrent, search

QUESTIONS = (*recurrent.QUESTIONS, *search.QUESTIONS, *attention.QUESTIONS)
NUMERIC = tuple(question for question in QUESTIONS if question.answers)
