"""Right answers in other styles than the reference's: all must pass in full."""
