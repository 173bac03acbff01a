"""Trainers that stand for the original's built-in algorithms; README.md one folder up says what is where."""
