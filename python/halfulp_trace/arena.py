# SPDX-License-Identifier: Apache-2.0
"""Memory for the copies that a recorded step makes of its tensors. Small steps are kept in memory; what a step has
beyond that goes to an unlinked file as the step runs, so that the host's memory does not grow with the step."""
import bisect
import contextlib
import ctypes
import math
import mmap
import os
import tempfile

import torch

from .laid import SEGMENT, Laid, in_file, planned

MEMORY = 64 << 20        # bytes of a step that stay in memory
ALIGNED = 64
SMALL = 4096             # bytes of a tensor that stays in memory anyway
PAGE, REMOVE = mmap.PAGESIZE, getattr(mmap, "MADV_REMOVE", None)
LARGE = 1 << 20          # bytes of a tensor that does not stay in memory once a step has more than MEMORY


def in_memory(t):
    """The bytes of a contiguous tensor on the host."""
    return memoryview((ctypes.c_char * (t.numel() * t.element_size())).from_address(t.data_ptr())).cast("B")


class Arena:
    def __init__(self, folder, plan=None):
        self.folder, self.file = folder, None
        self.laid = Laid(folder, plan)           # what may become the trace
        self.count, self.numbers = 0, {}         # of copies; the numbers of those that are in a file, by address
        self.maps, self.places, self.begins = [], [], []     # of the file: memory; its address, size and place; this
        self.sorted = []                         # places by their address
        self.late = 0, 0                         # bytes of the file that nothing wants any more, whose pages it has
        self.held = self.end = 0                 # bytes in memory; length of the file
        self.at = self.left = 0                  # where the last segment has room

    def copy(self, t, dtype):
        """A row-major copy of t's values on the host."""
        size = t.numel() * dtype.itemsize
        number, self.count = self.count, self.count + 1
        if self.held + size <= MEMORY or size < SMALL:
            self.held += size
            return torch.empty(t.shape, dtype=dtype).copy_(t)
        own = t
        if t.dtype != dtype or t.device.type != "cpu" or not t.is_contiguous() or t.is_conj() or t.is_neg():
            own = torch.empty(t.shape, dtype=dtype).copy_(t)
        try:
            made = self.laid.put(number, own, in_memory(own), dtype)
            if made is None:
                m, at = self.room(size)
                in_file(self.file.fileno(), in_memory(own), self.places[-1][2] + at)
                made = torch.frombuffer(m, dtype=dtype, count=t.numel(), offset=at).reshape(t.shape)
        except (OSError, ValueError):            # no such file system, or it is full
            return own if own is not t else torch.empty(t.shape, dtype=dtype).copy_(t)
        self.numbers[made.data_ptr()] = number
        return made

    def plan(self, layout):
        """Where the next step's copies belong if its trace is as this one."""
        return planned(layout, self.numbers)

    def room(self, size):
        """A mapping that has this many bytes, and where in it they begin."""
        size = -(-size // ALIGNED) * ALIGNED
        if size > self.left:
            self.grow(max(size, SEGMENT))
        at, self.at, self.left = self.at, self.at + size, self.left - size
        return self.maps[-1], at

    def grow(self, size):
        size = -(-size // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY
        if self.file is None:
            os.makedirs(self.folder, exist_ok=True)
            self.file = tempfile.TemporaryFile(dir=self.folder)
        # pages that the file system has promised, since a write to others would kill the process when it is full
        os.posix_fallocate(self.file.fileno(), self.end, size)
        self.maps.append(mmap.mmap(self.file.fileno(), size, offset=self.end))
        m = self.maps[-1]
        self.places.append((torch.frombuffer(m, dtype=torch.uint8).data_ptr(), size, self.end))
        self.begins.append(self.end)
        bisect.insort(self.sorted, self.places[-1])
        self.end += size
        self.at, self.left = 0, size
        self.trim(self.maps[:-1])

    def has(self, t):
        """Whether t's memory is the file's, or what stays in memory has room for it."""
        return self.laid.has(t) or self.where(t) is not None or self.held + t.numel() * t.element_size() <= MEMORY

    def where(self, t):
        """Where in the file a contiguous tensor's bytes are; None if they are not there."""
        at = t.data_ptr()
        k = bisect.bisect(self.sorted, (at, math.inf)) - 1
        if k < 0:
            return None
        a, length, begin = self.sorted[k]
        return begin + at - a if at < a + length else None

    def drop(self, at, size):
        """Notes that nothing wants these bytes of the file any more. Small pieces side by side are freed together."""
        first, end = self.late
        if first <= at <= end + ALIGNED:
            self.late = first, max(end, at + size)
        else:
            self.free()
            self.late = at, at + size
        if self.late[1] - self.late[0] >= LARGE:
            self.free()

    def free(self):
        """Frees the pages of the file that lie within the bytes that nothing wants, and their place on disk, where the
        system can: what is written next takes the same pages, which no one has to clear or to fetch from elsewhere."""
        at, last = self.late
        k = max(bisect.bisect(self.begins, at) - 1, 0)
        while REMOVE is not None and at < last:
            begin, length = self.begins[k], self.places[k][1]
            first, end = at - begin + PAGE - 1 & -PAGE, min(last - begin, length) & -PAGE
            if end > first:
                with contextlib.suppress(OSError):
                    self.maps[k].madvise(REMOVE, first, end - first)
            at, k = begin + length, k + 1
        self.late = 0, 0

    def trim(self, maps=None):
        """Gives the pages of the file back: they are read again when they are needed."""
        for m in self.maps if maps is None else maps:
            m.madvise(mmap.MADV_DONTNEED)
        self.laid.trim()


CURRENT = [None]         # the arena of the step that runs


@contextlib.contextmanager
def use(arena):
    outer, CURRENT[0] = CURRENT[0], arena
    try:
        yield arena
    finally:
        CURRENT[0] = outer


def copied(t, dtype):
    """A row-major copy of t's values on the host, in the running step's arena."""
    arena = CURRENT[0]
    return torch.empty(t.shape, dtype=dtype).copy_(t) if arena is None else arena.copy(t, dtype)


def moved(t):
    """t itself, or where it is large and in memory a copy of it in the running step's arena."""
    arena = CURRENT[0]
    if arena is None or t.numel() * t.element_size() < LARGE or arena.has(t):
        return t
    return copied(t, t.dtype)
