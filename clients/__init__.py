"""What bots need: the client library of ACADEMY, and sample bots that use it."""
