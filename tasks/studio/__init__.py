"""Artefacts: pages that are made, rendered, looked at and revised.

A task may bring drafts (`draft`), which the server `studio` hands out. Every kind of artefact is shown as pages
(`forms`): flat lists of shapes and lines of text (`page`), whose places are known by real font metrics (`boxes`,
`fonts`), and which resvg renders (`rendering`). Tools, checks and families all use the same page.
"""
