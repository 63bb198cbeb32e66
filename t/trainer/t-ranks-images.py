# SPDX-License-Identifier: Apache-2.0
"""Ranks that train on images, each of which reads its own: other pixels on one rank are refused before the first step."""

import os
import shutil
import struct
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from mpi import apart, need_mpi, said  # noqa: E402
from tap import HALFULP, finish, home, ok  # noqa: E402

need_mpi(or_stub=True)
folder = home()


def at(*names):
    return os.path.join(folder, *names)


def png(shade, comment=0):
    """16 pixels, stored as they are, so that every file has the same length. Behind a long comment its middle has none."""

    def chunk(kind, data):
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))

    rows = b''.join(b'\0' + bytes((shade + 40 * y + 9 * x) % 256 for x in range(4)) for y in range(4))
    data = chunk(b'IHDR', struct.pack('>IIBBBBB', 4, 4, 8, 0, 0, 0, 0)) + chunk(b'IDAT', zlib.compress(rows, 0))
    return b'\x89PNG\r\n\x1a\n' + data + chunk(b'tEXt', b'Comment\0' + b'.' * comment) + chunk(b'IEND', b'')


def draw(place, change=0, comment=0):
    shutil.rmtree(at(place), ignore_errors=True)
    for k in range(20):
        os.makedirs(at(place, 'p', str(k % 2)), exist_ok=True)
        with open(at(place, 'p', str(k % 2), '%02d.png' % k), 'wb') as f:
            f.write(png(12 * k + change, comment))


WORDS = '--model mlp --data images:p --size 4 --channels 1 --width 0.05 --batch 6 --micro-batches 3 --steps 4 --quiet'
WORDS = [*WORDS.split(), '--checkpoint-every', '2', '--trace-steps', 'none']


def inside(*places, words=('train', *WORDS), run='run'):
    """The program with these arguments on as many ranks as there are places, each of which is a rank's folder."""
    return apart(*[['env', '-C', at(place), HALFULP, *words, at(run)] for place in places])


draw('here')
draw('there', 100)
for n, places in enumerate((('here', 'there'), ('here', 'here', 'there'))):
    p = inside(*places, run='no%d' % n)
    lines = said(p)
    ok(
        p.returncode == 3 and len(lines) == 1 and "its data's digest is" in lines[0] and not os.path.exists(at('no%d' % n)),
        'the last of %d ranks has other pixels under the same names and lengths: one line' % len(places),
        [p.returncode, p.stderr],
    )
draw('there')
p = inside('here', 'there', run='copy')
ok(p.returncode == 0, 'a copy of the folder on another rank is the same data', p.stderr)
finish()
