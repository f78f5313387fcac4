"""Actions of a user, without a GUI toolkit: open and reload scenes, edit sensors, record."""
