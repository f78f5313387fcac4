"""MotrixSim: its steps, and what of a scene it can run."""
