"""Tests of what benchmarks do with their figures; no benchmark runs here."""
