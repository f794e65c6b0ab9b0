"""Numbers of games: each is given out once, those a broken-off run left over first."""


class Numbering:
    """The numbers, from 0, of one group of games: which have been given out and which are completed.

    `limit` is how many games the group has, None for no end.
    """

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self._given: set[int] = set()
        self._completed: set[int] = set()
        self._lowest_open = 0

    @property
    def given(self) -> int:
        """How many games have been given out, completed ones included."""
        return len(self._given)

    @property
    def completed(self) -> int:
        """How many games are completed."""
        return len(self._completed)

    @property
    def open(self) -> bool:
        """Whether there are numbers to give out."""
        return self._limit is None or self._lowest_open < self._limit

    @property
    def lowest_open(self) -> int:
        """The lowest number that has not been given out."""
        return self._lowest_open

    @property
    def finished(self) -> bool:
        """Whether no number is missing among the completed ones."""
        return self._limit is not None and not self.open and self.given == self.completed

    def next(self) -> int:
        """Give out the lowest number that is left. Raises IndexError when there is none."""
        if not self.open:
            raise IndexError(f"all {self._limit} games have been given out")
        number = self._lowest_open
        self.give(number)
        return number

    def give(self, number: int) -> None:
        """Give out a certain number."""
        self._given.add(number)
        while self._lowest_open in self._given:
            self._lowest_open += 1

    def take_back(self, number: int) -> None:
        """Have a number given out again whose game will not be completed."""
        self._given.discard(number)
        self._lowest_open = min(self._lowest_open, number)

    def wants(self, number: int) -> bool:
        """Whether this number is still to be given out."""
        return number not in self._given and (self._limit is None or number < self._limit)

    def complete(self, number: int) -> None:
        """Note that this number's game is completed."""
        self.give(number)
        self._completed.add(number)

    def text(self, number: int) -> str:
        """The number as game ids have it: padded with zeros to the longest one, if there is an end."""
        width = 0 if self._limit is None else len(str(self._limit - 1))
        return f"{number:0{width}d}"
