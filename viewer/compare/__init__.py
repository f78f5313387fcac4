"""Compares runs: finds differences, tries changed values, and searches for changes that help."""
