"""The catalogue of attacks: one module a kind, each with a list ATTACKS."""

from __future__ import annotations

import importlib

from autograder.selftest.attacks.entry import Attack

KINDS = (
    *("reading", "channel", "processes", "introspection", "exits"),
    *("files", "floods", "values", "grading_aware", "notebooks"),
)


def catalogue() -> list[Attack]:
    """List all attacks.

    Raises:
        ValueError: two have one id.
    """
    modules = [importlib.import_module(f"{__name__}.{kind}") for kind in KINDS]
    attacks = [attack for module in modules for attack in module.ATTACKS]
    if len({attack.id for attack in attacks}) < len(attacks):
        raise ValueError("two attacks have one id")
    return attacks
