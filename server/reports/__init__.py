"""Pages and cards: what was measured, for people to look at."""
