"""Writes frames as videos, and steps as data files."""
