"""Gymnasium's environments with a contact viewer: `contact_viewer.gymnasium.ContactViewer`."""

try:
    import gymnasium as _  # noqa: F401
except ImportError:
    raise ImportError("contact_viewer.gymnasium needs Gymnasium: pip install contact-viewer[gymnasium]") from None

from .passive.gymnasium import ContactViewer, show_one

__all__ = ["ContactViewer", "show_one"]
