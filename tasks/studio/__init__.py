"""Artefacts: pages that are made, rendered, looked at and revised.

A task may bring drafts (`scene`), which the server `studio` hands out. Every kind of artefact is shown as pages: flat
lists of shapes and lines of text (`page`), which resvg renders and whose positions are known by real font metrics
(`rendering`). Tools, checks and families all use the same page.
"""
