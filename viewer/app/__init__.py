"""Actions of a user, without a toolkit: open and reload scenes, edit sensors, record."""
