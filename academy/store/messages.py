"""Protobuf messages as stored bytes, and back."""

from typing import TypeVar

from google.protobuf.message import DecodeError, Message

from academy.store.errors import StoreCorrupt

_Message = TypeVar("_Message", bound=Message)


def packed(message: Message) -> bytes:
    """Return a message's bytes, the same for equal messages."""
    return message.SerializeToString(deterministic=True)


def unpacked(kind: type[_Message], stored: bytes) -> _Message:
    """Return the message that was packed. Raises StoreCorrupt."""
    try:
        return kind.FromString(stored)
    except DecodeError as fault:
        raise StoreCorrupt(f"a stored {kind.__name__} cannot be read: {fault}") from fault
