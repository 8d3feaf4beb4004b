"""Reports as one HTML page: no script, nothing fetched, light and dark, for a phone as well.

The page is a tree of elements that the standard library writes out, and the pictures are SVG made
of the same elements: whatever a queue is called, its name can only ever be text. A plotting library
would have made each picture some ten times as large, in one of the two colour schemes, with names
that it takes for mathematics.
"""
