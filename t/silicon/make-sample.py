#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make-sample.py FOLDER OUT.npz <ROWS: the rows of FOLDER's .npy files that standard input lists, a line for each set, as an archive.
u-tc-vectors --choose | python3 make-sample.py ../shared/data/tensor-core t/silicon/tensor-core.npz"""
import ast, pathlib, sys, zipfile


def rows_of(path, rows):
    raw = path.read_bytes()
    size = int.from_bytes(raw[8:10], "little")
    header = ast.literal_eval(raw[10 : 10 + size].decode())
    shape = header["shape"]
    assert header["descr"] == "<f4" and not header["fortran_order"] and raw[6] == 1, path
    width = 4 * (shape[1] if len(shape) > 1 else 1)
    data = raw[10 + size :]
    assert len(data) == width * shape[0], path
    header["shape"] = (len(rows), *shape[1:])
    text = repr(header)
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return raw[:8] + len(text).to_bytes(2, "little") + text.encode() + b"".join(data[width * r : width * (r + 1)] for r in rows)


folder, out = pathlib.Path(sys.argv[1]), sys.argv[2]
with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
    for line in sys.stdin:
        name, *rows = line.split()
        for path in sorted(folder.glob(name + "-*.npy")):
            archive.writestr(zipfile.ZipInfo(path.name), rows_of(path, [int(r) for r in rows]), zipfile.ZIP_DEFLATED, 9)
