"""Window with Hello ImGui: keys, layout, panels."""
