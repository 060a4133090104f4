"""What can go wrong outside the judged programs; the message is all that a user sees."""


class GraderError(Exception):
    """The grading cannot go on: a bad file, no zygo binary, a zygo that ended early."""


class Interrupted(Exception):
    """The user stopped the grading; `finished` results had arrived by then, of `total`."""

    def __init__(self, finished: int, total: int) -> None:
        super().__init__(f"interrupted after {finished} of {total} results")
        self.finished = finished
        self.total = total
