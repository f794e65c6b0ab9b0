"""Whether players become stronger by what ACADEMY learns: see docs/archive/learning.md."""
