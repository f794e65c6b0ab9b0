"""Whether players become stronger by what ACADEMY learns: see docs/learning.md."""
