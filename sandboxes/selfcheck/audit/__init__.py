"""The truth gate of the world: facts and searches about the real world, asked of the tools and compared.

`facts.txt` and `searches.txt` were written from common knowledge, not from the world's tables. Says for each server how
much is true, wrong or misleading, and how much the world does not hold. What a tool should answer to what it does not
hold is not tested here.
"""
