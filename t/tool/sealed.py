# SPDX-License-Identifier: Apache-2.0
# The line "whole" of a table: how many rows it has, and the 64-bit FNV-1a hash of its text without that line.


def checksum(text):
    h = 14695981039346656037
    for byte in text.encode("utf-8", "surrogateescape"):
        h = (h ^ byte) * 1099511628211 & 0xFFFFFFFFFFFFFFFF
    return h


def seal(text):
    """A table's text with its line."""
    lines = text.split("\n")
    notes = [line for line in lines if line.startswith("#")]
    rows = len([line for line in lines if line and not line.startswith("#")]) - 1
    return "\n".join([*notes, "# whole: %d rows, checksum 0x%016x" % (rows, checksum(text)), *lines[len(notes):]])


def unsealed(text):
    return "\n".join(line for line in text.split("\n") if not line.startswith("# whole: "))


def is_whole(path):
    """Whether a table's file is what its line says."""
    text = open(path).read()
    return text != unsealed(text) and seal(unsealed(text)) == text


if __name__ == "__main__":  # gives each FILE, which was changed, the line that fits
    import sys

    for path in sys.argv[1:]:
        text = unsealed(open(path).read())
        open(path, "w").write(seal(text))
