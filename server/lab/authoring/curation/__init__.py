"""From recorded runs to verified references."""
