"""Tests of tables, statistics, figures and claims."""
