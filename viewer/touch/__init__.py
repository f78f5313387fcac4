"""Turns contacts into what a touch sensor would report."""
