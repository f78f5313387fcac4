"""Frames to video, contacts to files."""
