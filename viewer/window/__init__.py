"""The face of the application: Hello ImGui, keys, layout, panels."""
