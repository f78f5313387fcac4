"""Turns frames into videos, and steps into data files."""
