"""Looks over everything m3bench depends on and says, line by line, what is well and what to do about the rest."""
