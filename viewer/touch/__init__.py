"""Touch sensors: their declarations, and their readings from contacts."""
