"""One file a panel: what a person sees and clicks."""
