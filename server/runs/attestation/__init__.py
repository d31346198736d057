"""Signatures: what a server says of the runs that it sealed, so that a stranger can check that it said so."""
