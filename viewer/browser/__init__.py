"""The window served to a browser: pictures out, input in."""
