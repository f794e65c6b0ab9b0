"""What errors tell a program beside their message: numbers and names."""

from collections.abc import Mapping

__all__ = ["WithDetails"]


class WithDetails:
    """Keeps what callers get as metadata; stands before the exception among an error's bases.

    Args:
        message: The error's message.
        details: The numbers and names that it mentions.
    """

    def __init__(self, *message: str, **details: object) -> None:
        super().__init__(*message)
        self._details = details

    def details(self) -> Mapping[str, str]:
        """Return the metadata for callers, by name."""
        return {name: str(value) for name, value in self._details.items()}
