"""Scripts that turn openly licensed packages into tables of the world.

They are run by hand when a table is renewed, with the named package installed for the occasion; nothing at run
time imports them. Each states package, version and licence in the table it writes.
"""
