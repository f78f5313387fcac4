"""Pages of the rules of `contact-viewer check`: one file a rule, printed by `--explain`."""
