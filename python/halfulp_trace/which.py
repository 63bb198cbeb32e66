# SPDX-License-Identifier: Apache-2.0
"""Which steps of a long training are recorded, and how many bytes they may take."""


class Which:
    """Counts the steps of a training from 0 and says of each whether it is recorded.

    steps      numbers and ranges such as "100,200-203", or an iterable of numbers; None: every step
    every      of these, those whose number is a multiple of it
    max_bytes  as many bytes as traces may have together; None: any number
    """

    def __init__(self, steps=None, every=1, max_bytes=None):
        if not isinstance(every, int) or every < 1:
            raise ValueError("every=%r: a whole number of at least 1 is needed" % (every,))
        if max_bytes is not None and not max_bytes > 0:
            raise ValueError("max_bytes=%r: a positive number of bytes is needed" % (max_bytes,))
        self.ranges, self.every, self.max_bytes = ranges(steps), every, max_bytes
        self.next = 0                            # the number of the step that comes
        self.bytes = self.largest = 0            # of traces: all together, and the largest of one step

    def begin(self):
        """The number of the step that begins, and whether it is recorded."""
        number, self.next = self.next, self.next + 1
        wanted = number % self.every == 0 and (
            self.ranges is None or any(a <= number <= b for a, b in self.ranges))
        return number, wanted and self.fits(self.largest)

    def fits(self, size):
        """Whether another trace of this size may be written."""
        return self.max_bytes is None or self.bytes + size <= self.max_bytes

    def wrote(self, size):
        self.bytes += size
        self.largest = max(self.largest, size)


def ranges(steps):
    """First and last steps; None stands for all."""
    if steps is None:
        return None
    if not isinstance(steps, str):
        return [(int(k), int(k)) for k in steps]
    found = []
    for part in steps.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdigit() or (dash and not last.isdigit()):
            raise ValueError("steps=%r: numbers and ranges are needed, as in \"100,200-203\"" % steps)
        found.append((int(first), int(last if dash else first)))
        if found[-1][0] > found[-1][1]:
            raise ValueError("steps=%r: the range %s ends before it begins" % (steps, part.strip()))
    return found
