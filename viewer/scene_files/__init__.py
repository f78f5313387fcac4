"""Turns any file into a scene that is safe to step."""
