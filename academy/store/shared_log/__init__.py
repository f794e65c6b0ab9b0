"""A log that several servers share: a stream of NATS JetStream, which each folds into its own folder."""
