"""Tests of the scikit-learn classifiers."""
