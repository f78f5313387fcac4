"""Flat arrays to contacts: numpy only, no engine, no OpenGL."""
