"""Messages and stubs of the knowledge API, generated from `protos/academy/v1`."""
