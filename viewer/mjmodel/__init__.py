"""Data that are read from an mjModel and its mjData: names, sensors, contacts, pairs, friction."""
