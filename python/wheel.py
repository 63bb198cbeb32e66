#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wheel.py PROGRAM SOURCES VERSION DIR: writes DIR/halfulp-VERSION-py3-none-PLATFORM.whl, for `make wheel`.

The wheel holds the program without debugging symbols, what it draws figures with, the packages halfulp and
halfulp_trace, and the plugin for pytest. The program uses the shared libraries of the system, so the wheel is for
machines that have those of the one that it was built on. It is written here, by the rules of PEP 427, since a build
needs no network.
"""
import base64
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

program, sources, version, to = sys.argv[1:]
platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
name = "halfulp-%s" % version
tag = "py3-none-" + platform
rows = []


def add(wheel, path, data, mode=0o644):
    info = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
    info.external_attr = (0o100000 | mode) << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    wheel.writestr(info, data)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    rows.append("%s,sha256=%s,%d" % (path, digest, len(data)))


def files(folder, endings):
    for at, folders, names in os.walk(os.path.join(sources, folder)):
        folders[:] = sorted(f for f in folders if f != "__pycache__")
        for n in sorted(names):
            if n.endswith(endings):
                yield os.path.relpath(os.path.join(at, n), sources)


def read(path):
    with open(path, "rb") as f:
        return f.read()


with tempfile.TemporaryDirectory() as folder:
    stripped = os.path.join(folder, "halfulp")
    shutil.copy(program, stripped)
    subprocess.run(["strip", stripped], check=False) # without strip the wheel is larger
    binary = read(stripped)
metadata = """Metadata-Version: 2.1
Name: halfulp
Version: %s
Summary: What a number format does to a computation, with proof
License: Apache-2.0
Requires-Python: >=3.9
Requires-Dist: numpy
Description-Content-Type: text/markdown

""" % version
points = "[console_scripts]\nhalfulp = halfulp.program:main\n\n[pytest11]\nhalfulp = halfulp.pytest_plugin\n"
path = os.path.join(to, "%s-%s.whl" % (name, tag))
with zipfile.ZipFile(path + ".part", "w") as wheel:
    for package in ("halfulp", "halfulp_trace"):
        for f in files("python/" + package, (".py",)):
            add(wheel, f[len("python/"):], read(os.path.join(sources, f)))
    add(wheel, "halfulp/bin/halfulp", binary, 0o755)
    for f in [*files("reports", (".gp", ".css", ".js", ".html", ".svg")), *files("examples", (".onnx", ".npz"))]:
        add(wheel, "halfulp/share/" + f, read(os.path.join(sources, f)))
    info = name + ".dist-info/"
    add(wheel, info + "METADATA", (metadata + read(os.path.join(sources, "README.md")).decode()).encode())
    add(wheel, info + "WHEEL", ("Wheel-Version: 1.0\nGenerator: halfulp\nRoot-Is-Purelib: false\nTag: %s\n" % tag).encode())
    add(wheel, info + "entry_points.txt", points.encode())
    add(wheel, info + "licenses/LICENSE", read(os.path.join(sources, "LICENSE")))
    rows.append(info + "RECORD,,")
    wheel.writestr(zipfile.ZipInfo(info + "RECORD", (1980, 1, 1, 0, 0, 0)), "\n".join(rows) + "\n")
os.replace(path + ".part", path)
print(path)
