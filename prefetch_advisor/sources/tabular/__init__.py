"""Rows of text turned into arrays: lines, cells, columns, and the rows that cannot be used."""
