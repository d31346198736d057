"""Typed answers: what a task asks to be handed in, how it is read, and how it is compared with what is right."""
