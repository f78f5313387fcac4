"""Sweeps: many runs in local processes or on Ray, their results, and the report."""
