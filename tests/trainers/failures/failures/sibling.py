"""Imports a module of its own package by its bare name, as a script does that is started from inside its directory."""

import task

print(task)
