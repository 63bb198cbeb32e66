# SPDX-License-Identifier: Apache-2.0
# The width of a PDF in millimetres and the size of its letters in points, read from the file alone: cairo compresses
# its pages with zlib, and each piece of text stands behind a matrix (Tm) whose scale is the size of its letters.
import re
import zlib


def read(path):
    data = open(path, 'rb').read()
    box = [float(x) for x in re.search(rb'/MediaBox \[ *([-\d. ]+)\]', inflated(data))[1].split()]
    sizes = []
    for across, down in re.findall(rb'([\d.]+) 0 0 (-?[\d.]+) [-\d.]+ [-\d.]+ Tm', inflated(data)):
        assert across == down.lstrip(b'-'), (path, across, down)
        sizes.append(float(across))
    for up, across in re.findall(rb'\b0 (-?[\d.]+) (-?[\d.]+) 0 [-\d.]+ [-\d.]+ Tm', inflated(data)):
        sizes.append(abs(float(up)))
    return (box[2] - box[0]) * 25.4 / 72, sizes


def inflated(data):
    all_of_it = [data]
    for m in re.finditer(rb'stream\r?\n(.*?)endstream', data, re.S):
        try:
            all_of_it.append(zlib.decompress(m[1]))
        except zlib.error: # a font, or not compressed
            pass
    return b'\n'.join(all_of_it)
