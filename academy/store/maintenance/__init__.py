"""What keeps a data folder in order: check, backup, compaction, upgrade."""
