# SPDX-License-Identifier: Apache-2.0
"""Operators that run in other threads than the one that records: threads that start during a step are recorded, too."""
import contextlib
import threading


class Own(threading.local):
    """What each thread has of its own: the operator that runs there, and the modules that it is in."""

    def __init__(self):
        self.layers = ["step"]
        self.running = None, (), {}              # the operator of PyTorch, and its arguments
        self.was = {}                            # values of the operands of a call that writes to them


def own(name):
    """An attribute of which each thread has its own, kept in self.own."""
    return property(lambda self: getattr(self.own, name), lambda self, x: setattr(self.own, name, x))


@contextlib.contextmanager
def started_in(mode):
    """Until this ends, the mode holds in every thread that starts."""
    usual = threading.Thread.run

    def run(thread):
        with mode:
            usual(thread)
    threading.Thread.run = run
    try:
        yield
    finally:
        if threading.Thread.run is run:
            threading.Thread.run = usual
