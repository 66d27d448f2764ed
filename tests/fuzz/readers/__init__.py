"""The readers that are tried, one module each; `tests.fuzz` says what such a module holds."""
