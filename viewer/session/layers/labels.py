"""Switches the force of each contact as a number, which the window draws: text is no glyph."""

from ..layer import Layer

LAYERS = [Layer("labels", "Labels", "The force of each contact in newtons beside it")]
