"""Holds one open scene: its simulation, history, and what is drawn of it."""
