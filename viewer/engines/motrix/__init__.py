"""MotrixSim: its steps, and the parts of a scene that it can run."""
