"""Finds begins and ends of contact, slip and creep in the steps of a run."""
