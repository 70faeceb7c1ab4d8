"""Translate English to Zhoric with recurrent networks."""
