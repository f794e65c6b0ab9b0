"""Tests of the league."""
