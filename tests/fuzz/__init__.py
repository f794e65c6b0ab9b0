"""Every parser against bytes that nobody wrote: it answers, or refuses with its own error, and never breaks.

`targets` says what is read and what it may raise; `test_parsers` runs each a little; `python -m tests.fuzz`
runs them for long and keeps in `corpus/` what broke one.
"""
