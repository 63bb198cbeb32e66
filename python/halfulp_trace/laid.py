# SPDX-License-Identifier: Apache-2.0
"""Traces whose tensors are written once. Steps that run the same operators make traces of the same layout. So the
copies of a step go to where the last trace had those of the same number, in a file without a name, which becomes the
trace if the step turns out to have that layout; else it is a place for copies as any other."""
import contextlib
import errno
import mmap
import os

import torch

SEGMENT = 32 << 20       # bytes of a file that are mapped at a time, and read before their pages are given back


def in_file(file, data, at):
    while data:
        n = os.pwrite(file, data, at)
        data, at = data[n:], at + n


def sync(file):
    """Has the disk hold what the file or folder has. Some file systems know no such call; a disk that fails is told."""
    try:
        os.fsync(file)
    except OSError as e:
        if e.errno not in (errno.EINVAL, errno.EROFS):
            raise


def rename(part, path):
    """Gives a file whose bytes are on the disk its name, and has the disk know that."""
    os.replace(part, path)
    folder = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
    try:
        sync(folder)
    finally:
        os.close(folder)


def length(t):
    return t.numel() * t.element_size()


class Plan:
    """Where a trace had the copies of its step: by their number the bytes and the place in the file."""

    def __init__(self, size, places):
        self.size, self.places = size, places


def planned(layout, numbers):
    """The plan that a trace is for the next one. layout has places in the file and the values there, numbers the copies
    by their address."""
    places, size = {}, 0
    for at, t in layout:
        number = numbers.get(t.data_ptr()) if t.is_contiguous() and t.numel() else None
        if number is not None and number not in places:
            places[number] = length(t), at
        size = max(size, at + length(t))
    return Plan(size, places)


class Laid:
    """A file that is laid out as a plan says."""

    def __init__(self, folder, plan):
        self.plan, self.folder, self.file, self.map, self.begin = plan, folder, None, None, 0
        self.placed, self.fresh = {}, 0          # bytes of the copies by their place; written since pages were freed
        if plan is None or not plan.places or not hasattr(os, "O_TMPFILE"):
            return
        try:
            os.makedirs(folder, exist_ok=True)
            self.file = os.fdopen(os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o666), "r+b", buffering=0)
            self.file.truncate(plan.size)
            self.map = mmap.mmap(self.file.fileno(), plan.size)
            self.begin = torch.frombuffer(self.map, dtype=torch.uint8).data_ptr()
        except (OSError, ValueError):            # no such file system, or no room for it
            self.map = None

    def put(self, number, t, data, dtype):
        """A copy of t, whose bytes are data, as the copy of this number; None where the plan has no place for it."""
        size, at = self.plan.places.get(number, (-1, 0)) if self.map is not None else (-1, 0)
        if size != len(data) or at % dtype.itemsize or at in self.placed:
            return None
        in_file(self.file.fileno(), data, at)
        self.placed[at] = size
        self.fresh += size
        if self.fresh > SEGMENT:
            self.trim()
        return torch.frombuffer(self.map, dtype=dtype, count=t.numel(), offset=at).reshape(t.shape)

    def trim(self):
        self.fresh = 0
        if self.map is not None:
            self.map.madvise(mmap.MADV_DONTNEED)

    def has(self, t):
        return self.map is not None and self.begin <= t.data_ptr() < self.begin + len(self.map)

    def becomes(self, path, head, layout):
        """Whether the file is this trace now, which has these values at these places: what is not there yet is written,
        and the file gets its name. A copy that is elsewhere than its value belongs might be overwritten."""
        if self.map is None or not self.placed:
            return False
        there = {at for at, t in layout if t.is_contiguous() and self.begin + at == t.data_ptr()
                 and self.placed.get(at) == length(t)}
        if not self.placed.keys() <= there:
            return False
        from .arena import in_memory
        file, part = self.file.fileno(), path + ".part"
        self.file.truncate(max(at + length(t) for at, t in layout))
        in_file(file, head, 0)
        for at, t in layout:
            if at not in there and t.numel():
                t = t.contiguous()
                in_file(file, in_memory(t), at)
                self.fresh += length(t)
                if self.fresh > SEGMENT:
                    self.trim()
        sync(file)
        with contextlib.suppress(FileNotFoundError):
            os.remove(part)
        try:                                     # a directory's descriptor has os.link follow the link in /proc
            os.link("/proc/self/fd/%d" % file, part, src_dir_fd=file, follow_symlinks=True)
        except OSError:                          # a file system that gives such files no name
            return False
        rename(part, path)
        return True
