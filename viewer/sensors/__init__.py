"""Turns flat arrays into contacts: numpy only, no engine, no OpenGL."""
