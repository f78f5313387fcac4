"""Contacts to pixels: GL objects, the scene pass, glyphs, gizmos, contexts."""
