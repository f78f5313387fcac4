"""One open scene: its simulation, its history, and the glyphs that are drawn of it."""
