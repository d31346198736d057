"""New tasks out of the tool graph, proven by execution."""
