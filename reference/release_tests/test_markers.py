"""Tests of reference/release/markers.py."""

import pytest
from release.markers import Block, ReleaseError, find_blocks

BEGIN, END = "# BEGIN SOLUTION lstm", "# END SOLUTION lstm"


def test_blocks() -> None:
    """Are blocks found with the lines of their markers?"""
    source = f"a\n{BEGIN}\nb\n    {END}\nc\n{BEGIN}\nd\ne\n{END}\n"
    blocks = find_blocks(source, "nmt/lstm.py", ["lstm"])
    assert blocks == [Block("lstm", 2, 4), Block("lstm", 6, 9)]
    assert [line for line in range(1, 10) if line in blocks[1]] == [7, 8]


@pytest.mark.parametrize(
    ("lines", "number", "message"),
    [
        ([BEGIN, "a", BEGIN, END, END], 3, "nested in the block that begins in line 1"),
        (["a", BEGIN, "b"], 2, "BEGIN SOLUTION lstm is never closed"),
        (["a", END], 2, "END SOLUTION lstm without a BEGIN"),
        ([BEGIN, "a", END, "b", END], 5, "without a BEGIN"),
        ([BEGIN, "a", "# END SOLUTION bleu"], 3, "but line 1 began one of task lstm"),
        ([BEGIN.replace("lstm", "lstn"), "a", END], 1, "task 'lstn'; only lstm, bleu can stand"),
        (["# BEGIN SOLUTION", "a", END], 1, "expected `# BEGIN SOLUTION <task>`"),
        (["#BEGIN SOLUTION lstm", "a", END], 1, "alone on its line"),
        (["# begin solution lstm", "a", END], 1, "alone on its line"),
        ([BEGIN, "a", "# END_SOLUTION lstm"], 3, "alone on its line"),
        (["a = 1  # BEGIN SOLUTION lstm", "b", END], 1, "alone on its line"),
        ([BEGIN + " (the hard part)", "a", END], 1, "alone on its line"),
        (["# SOLUTION", "a"], 1, "alone on its line"),
    ],
)
def test_faults(lines: list[str], number: int, message: str) -> None:
    """Is each faulty marker refused, with file and line?"""
    with pytest.raises(ReleaseError) as caught:
        find_blocks("\n".join(lines), "nmt/lstm.py", ["lstm", "bleu"])
    assert str(caught.value).startswith(f"nmt/lstm.py:{number}: ")
    assert message in str(caught.value)


def test_given_file() -> None:
    """Is a marker refused in a file that students get as it is?"""
    with pytest.raises(ReleaseError, match=r"nmt/model.py:1: .* no solution can stand"):
        find_blocks(f"{BEGIN}\na\n{END}\n", "nmt/model.py", [])
