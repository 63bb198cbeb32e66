# SPDX-License-Identifier: Apache-2.0
# What a command left in a folder and printed, compared with what it leaves undisturbed: bytes, or all but times.
import json
import os
import re

MARKS = re.compile(rb'(?<=manifest xxh3: )[0-9a-f]{16}|(?<=checksum 0x)[0-9a-f]{16}')   # of files that hold times
TIMED = re.compile(rb'-?(\binf\b|\b0x[0-9a-f.]+p[+-]\d+\b|\b[0-9a-f]{16}\b|\d+(\.\d+)?(e[+-]?\d+)?)')


def tree(folder):
    """The files below a folder, by name: their bytes."""
    found = {}
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            found[os.path.relpath(path, folder)] = open(path, 'rb').read()
    return found


def shape(j):
    """A JSON value without its numbers and its checksums, which are words of hexadecimal digits."""
    if isinstance(j, dict):
        return {k: shape(v) for k, v in j.items()}
    if isinstance(j, list):
        return [shape(v) for v in j]
    return '#' if isinstance(j, str) and re.fullmatch('[0-9a-f]{16}|.*[0-9]:[0-9].*', j) else j


def parsed(data):
    try:
        return json.loads(data)
    except ValueError:
        return None


def numberless(j):
    if isinstance(j, dict):     # without what bench says of times that other processes disturbed
        return {k: numberless(v) for k, v in j.items() if k != 'odd'}
    return [numberless(v) for v in j] if isinstance(j, list) else 0 if isinstance(j, (int, float)) else j


def same(a, b, exactly):
    """Whether two contents agree; `exactly` is False for a file that holds times: but for numbers and their checksums,
    and None for one that says the checksum of such a file: but for these."""
    if a == b:      # nearly always, and patterns take longer to look for than the commands take
        return True
    if exactly is None:
        return MARKS.sub(b'', a) == MARKS.sub(b'', b)
    a, b = (re.sub(rb'\(\d+\.\d s\)|[\d.e+-]+ ms a step(, [\d.]+ of them waiting for data)?', b'', x) for x in (a, b))
    if exactly or a == b:
        return a == b
    j, k = parsed(a), parsed(b)
    if j is not None and k is not None:
        return numberless(shape(j)) == numberless(shape(k))
    a, b = (re.sub(rb' +', b' ', TIMED.sub(b'#', x)) for x in (a, b))   # columns are as wide as their numbers
    return a == b


def begun(a, b):
    """Whether a file that changes as the command goes on is whole: an object, or the first lines of b."""
    if parsed(b) is not None:
        return parsed(a) is not None
    return a.endswith(b'\n') and TIMED.sub(b'#', b).startswith(TIMED.sub(b'#', a))
