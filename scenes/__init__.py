"""Bundled scenes: one MJCF a contact situation, described by its first line."""
