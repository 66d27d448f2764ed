"""Tests of `fwsvm.problems`."""
