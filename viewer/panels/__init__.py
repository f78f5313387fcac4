"""What a person sees and clicks: one file a window."""
