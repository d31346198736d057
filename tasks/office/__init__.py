"""Presentations and workbooks as pictures, without any office program: the same bytes on every machine.

A file becomes sheets of marks (`marks`): words, shapes and pictures at places in pixels of a 96th of an inch, each
with the name of what it belongs to. `deck` reads slides, `book` reads worksheets, `charts` draws charts of both;
`typeset` breaks text into lines by the widths of common fonts (`faces`), and `picture` paints. Checks measure on
marks, tools show the painting. What a file has that is not drawn is named on its sheet: a picture that hides its gaps
would be wrong.
"""
