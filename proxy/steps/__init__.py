"""Which calls a model made in one turn: what clients announce, and what the record proves."""
