"""The drawing kit: what draws, blends and encodes pictures so that every machine gets the same ones.

Pillow's polygons, thick lines, blurs and blends compute with floating point, which compilers arrange differently for
each architecture: now and then a pixel differs. Here shapes are rounded to a sixteenth of a pixel and filled with
whole numbers (`coverage`, `sheet`), blurring and blending use whole numbers (`pixels`), writing stands at fixed
places in known fonts (`fonts`), and PNG files are packed by Python's own zlib (`files`). Used by the tool
servers; the pictures of tasks are SVG, drawn by `render`.
"""
