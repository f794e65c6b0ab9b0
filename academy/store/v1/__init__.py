"""Messages of records that only the store reads, generated from `protos/academy/store/v1`."""
