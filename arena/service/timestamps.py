"""Times of the databases, which are in UTC and have no zone, as messages have them."""

from datetime import datetime

from google.protobuf.timestamp_pb2 import Timestamp


def timestamp_of(time: datetime) -> Timestamp:
    """Return a time as a message."""
    timestamp = Timestamp()
    timestamp.FromDatetime(time)
    return timestamp
