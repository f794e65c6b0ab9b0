"""ACADEMY: what competing players know together."""
