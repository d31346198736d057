"""Travel posters of places, drawn by recipe: the pictures behind the world's linked pages.

The world carries no photographs, so each page has a stylised illustration of its own. A recipe is a palette
and a list of elements from back to front; the same recipe gives the same picture.
"""
