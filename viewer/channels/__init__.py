"""Named values over time that are no contacts: of a program, of a model, from files of measurements."""
