"""The Sun in 2024 and 2025: flares, ejections and what they do to the Earth, as one coherent record.

Well-known events are true and come from tables; the ordinary ones between them are seeded at the rates of those
months. Every effect has its cause in the record, and both name each other.
"""
