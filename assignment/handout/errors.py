"""What can go wrong while the handout is made."""


class HandoutError(RuntimeError):
    """Say what could not be made of the handout, and why."""
