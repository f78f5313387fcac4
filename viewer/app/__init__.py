"""What a person can do, without a toolkit: open and reload scenes, edit sensors, record."""
