"""Shader sources: one stem a program, shared parts in .glsl files."""
