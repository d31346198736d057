"""Sound and film of tasks: speech, tones and short films, made from a description when a set is generated.

What a family describes is made by espeak-ng, numpy and Pillow, and written by PyAV. Nothing here listens or looks: that
is what the `recordings` server does with the files.
"""
