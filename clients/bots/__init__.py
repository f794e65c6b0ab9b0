"""Sample bots that consult ACADEMY and propose to it; short, to be copied."""
