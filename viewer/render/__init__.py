"""Draws scenes and glyphs with OpenGL."""
