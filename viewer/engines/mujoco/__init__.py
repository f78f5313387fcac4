"""MuJoCo: its steps, their history, and readings of its models and contacts."""
