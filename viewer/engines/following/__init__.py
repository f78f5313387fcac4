"""Contacts followed step by step: when they begin and end, how hard they press."""
