"""The documentation: its commands and snippets run, its output is true, its pictures are those of their commands."""
