"""The window: Hello ImGui, keys, layout, panels."""
