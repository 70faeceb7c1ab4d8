"""The written questions: one source for the notebook, its grading, the answers and the rubric."""
