"""What counts as the same call: by the words of two calls (`text`), or by what they brought about (`effect`).

A matching takes a run and its references and gives, for each reference, an alignment: which actual calls answer which
reference calls, and how well. Metrics, ranges, reasons and improvements work on the alignment and do not ask again.
"""
