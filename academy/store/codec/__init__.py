"""What is stored and sent, as protobuf messages: written, and read with every rule checked."""
