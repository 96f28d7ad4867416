"""The HTTP door: one controller per noun, one table of errors, one place for the wiring."""
