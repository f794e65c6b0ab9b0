"""The gRPC service: competitions started, stopped, watched and asked about."""
