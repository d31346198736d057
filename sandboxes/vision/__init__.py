"""Finding things in pictures that no scene describes, with trained networks whose weights people fetch once."""
