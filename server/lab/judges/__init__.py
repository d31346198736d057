"""What models say about a run, kept apart from everything that is computed."""
