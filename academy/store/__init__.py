"""The data folder: an LMDB environment with an event log, tables that follow from it, and one writer."""
