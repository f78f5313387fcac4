"""Serve the window to browsers: send frames, receive input."""
