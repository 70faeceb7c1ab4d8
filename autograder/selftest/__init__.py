"""Tests of the grader itself."""
