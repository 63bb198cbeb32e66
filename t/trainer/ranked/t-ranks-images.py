# SPDX-License-Identifier: Apache-2.0
"""Ranks that train on images, each of which reads its own: other pixels on one rank are refused before the first step;
the manifest says of all ranks together what it says of one process, and any number of them goes on with these pixels
alone."""

import json
import os
import shutil
import struct
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from mpi import apart, need_mpi, said  # noqa: E402
from tap import HALFULP, finish, halfulp, home, ok  # noqa: E402

need_mpi(or_stub=True)
folder = home()


def at(*names):
    return os.path.join(folder, *names)


def png(shade, comment=0):
    """16 pixels, stored as they are, so that every file has the same length. The middle of a long COMMENT has none."""

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


WORDS = '--model mlp --data images:p,size=4,channels=1 --model width=0.05 --batch 6 --batch micro=3 --steps 4 --quiet'
WORDS = [*WORDS.split(), '--checkpoint-every', '2', '--trace', 'steps=none']


def inside(*places, words=('train', *WORDS), run='run'):
    """The program with these arguments on as many ranks as there are places, each of which is a rank's folder."""
    return apart(*[['env', '-C', at(place), HALFULP, *words, at(run)] for place in places])


draw('here')
draw('there', 100)
for n, places in enumerate((('here', 'there'), ('here', 'here', 'there'))):
    p = inside(*places, run='no%d' % n)
    lines = said(p)
    ok(
        p.returncode == 3
        and len(lines) == 1
        and "its data's digest is" in lines[0]
        and not os.path.exists(at('no%d' % n)),
        'the last of %d ranks has other pixels under the same names and lengths: one line' % len(places),
        [p.returncode, p.stderr],
    )
draw('there')
p = inside('here', 'there', run='copy')
ok(p.returncode == 0, 'a copy of the folder on another rank is the same data', p.stderr)


# --- what was read: each row once, whoever read it, in an epoch and a part of another
def read(run):
    with open(at(run, 'manifest.json')) as f:
        return json.load(f)['dataset'].get('read')


p = inside('here', run='one')
one = read('one') if p.returncode == 0 else None
ok(one and one['rows'] == 20 and one['from_step'] == 0, 'one process reads all 20 images', [p.stderr, one])
for n in 2, 3:
    p = inside(*['here'] * n, run='run%d' % n)
    got = read('run%d' % n)
    ok(p.returncode == 0 and got == one, '%d ranks: rows and digest are those of one process' % n, [p.stderr, one, got])
    p = halfulp('diff', at('one'), at('run%d' % n))
    told = p.stdout + p.stderr
    ok(p.returncode == 0 and 'settings that differ' not in told, 'and diff finds no other setting', told)
    p = halfulp('verify', at('run%d' % n), cwd=at('here'))
    ok(p.returncode == 0, 'and one process verifies it', p.stdout + p.stderr)


# --- going on: evaluation, after the checkpoint behind two steps, finds a damaged image, which is then mended. Pixels
# --- lie before the middle of these files, so that the digest of the files sees neither
def spoil(name):
    with open(at('long', 'p', name), 'r+b') as f:
        data = f.read()
        f.seek(data.index(b'tEXt') - 5)
        f.write(bytes([data[data.index(b'tEXt') - 5] ^ 1]))  # of the checksum behind the pixels


half = None
for n in 1, 2, 3:
    draw('long', comment=10000)
    spoil('0/18.png')
    p = inside(*['long'] * n, run='cut%d' % n)
    got = read('cut%d' % n)
    half = half or got
    ok(p.returncode == 3 and '18.png' in p.stderr and got == half and got['rows'] == 12,
       '%d ranks: a checkpoint says what was read until then, 12 images' % n, [p.stderr, got, half])
draw('long', comment=10000)
for n, made in (1, 3), (2, 2), (3, 1), (2, 1):
    shutil.copytree(at('cut%d' % made), at('again'))
    p = inside(*['long'] * n, words=('train', '--resume', '--quiet'), run='again')
    ok(p.returncode == 0 and read('again') == one, '%d ranks go on with what %d made, and say what one process does'
       % (n, made), [p.stderr, read('again'), one])
    shutil.rmtree(at('again'))
draw('long', 1, comment=10000)
for n, made in (1, 2), (2, 1), (2, 2), (3, 3):
    p = inside(*['long'] * n, words=('train', '--resume', '--quiet'), run='cut%d' % made)
    lines = said(p)
    ok(p.returncode == 3 and len(lines) == 1 and 'give it the same files back' in lines[0],
       '%d ranks do not go on with other pixels than %d had: one line' % (n, made), [p.returncode, p.stderr])
draw('long', comment=10000)
spoil('0/00.png')
p = inside('long', 'long', words=('train', '--resume', '--quiet'), run='cut2')
ok(p.returncode == 3 and len(said(p)) == 1 and '00.png' in said(p)[0], 'nor with a damaged image: one line', p.stderr)
finish()
