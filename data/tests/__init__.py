"""The data room's own tests."""
