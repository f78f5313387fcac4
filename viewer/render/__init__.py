"""Turns glyphs into pixels."""
