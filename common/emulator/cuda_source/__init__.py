"""Reads .cu files token by token and edits what only nvcc understands. rewrite.py is the way in."""
