"""Make the handout: chapters in Markdown, numbers from the facts, contracts from the docstrings."""
