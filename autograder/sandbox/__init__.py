"""Run the student's code in processes that cannot reach the grader, its answers or its results."""
