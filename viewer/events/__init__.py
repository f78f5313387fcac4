"""Turns steps into contact begins and ends."""
