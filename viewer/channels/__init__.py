"""Named values over time other than contacts: from a program, a model, or files of measurements."""
