"""Protobuf messages as stored bytes."""

from typing import TypeVar

from google.protobuf.message import DecodeError, Message

from academy.store.errors import StoreCorruptError

_Message = TypeVar("_Message", bound=Message)


def pack_message(message: Message) -> bytes:
    """Return a message's bytes, the same for equal messages."""
    return message.SerializeToString(deterministic=True)


def unpack_message(kind: type[_Message], stored: bytes) -> _Message:
    """Return the message that was packed. Raises StoreCorruptError."""
    try:
        return kind.FromString(stored)
    except DecodeError as error:
        raise StoreCorruptError(f"a stored {kind.__name__} cannot be read: {error}") from error
