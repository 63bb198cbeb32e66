# SPDX-License-Identifier: Apache-2.0
"""The data set images: folders of PNG and JPEG files reach the program as torchvision's Resize and CenterCrop of a
Pillow image over 255, which are computed again here; classes are in the order of their names; which images are to
evaluate on; threads and a second use change nothing; what is damaged, empty or no image is refused in one line."""

import base64
import json
import math
import os
import random
import shutil
import struct
import sys
import zlib

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', d) for d in ('tool', 'judge')]
from independent.sums import fnv32  # noqa: E402
from independent.training import fnv64, mix64  # noqa: E402
from tap import finish, halfulp, home, none, ok  # noqa: E402
from tensorsfile import Tensors  # noqa: E402

folder = home()
rng = random.Random(5)
# 17 x 16 pixels, quality 80, colours at half the resolution; the CRC-32 is of 16 x 16 pixels as Pillow has them
JPEG = base64.b64decode(
    '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAYEBQYFBAYGBQYHBwYIChAKCgkJChQODwwQFxQYGBcUFhYaHSUfGhsjHBYWICwgIyYn'
    'KSopGR8tMC0oMCUoKSj/2wBDAQcHBwoIChMKChMoGhYaKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo'
    'KCgoKCgoKCj/wAARCAAQABEDASIAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUF'
    'BAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVW'
    'V1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi'
    '4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAEC'
    'AxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVm'
    'Z2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq'
    '8vP09fb3+Pn6/9oADAMBAAIRAxEAPwDu4b/T9R0kI2zeVrx/xf4Mkub1prRSRnPFZWq6pf6Jf+UC+wHFes/DXV7fVIkW8xk+tZZV'
    'w/VyqP1mlrFmGbrEvHRpYB81FbnkP/CK6j/deivqb+zdL9Eor3P7Qn/z7PU9pS/kP//Z'
)
JPEG_CRC = 0x04A537F3
# 16 x 16 pixels of cyan, magenta, yellow and black, inverted as Adobe's programs do; the CRC-32 is of Pillow's red,
# green and blue
CMYK = base64.b64decode(
    '/9j/7gAOQWRvYmUAZAAAAAAA/9sAQwANCQoLCggNCwoLDg4NDxMgFRMSEhMnHB4XIC4pMTAuKS0sMzpKPjM2RjcsLUBXQUZMTlJTUjI+'
    'WmFaUGBKUVJP/8AAFAgAEAAQBEMRAE0RAFkRAEsRAP/EAB8AAAEFAQEBAQEBAAAAAAAAAAABAgMEBQYHCAkKC//EALUQAAIBAwMCBAMF'
    'BQQEAAABfQECAwAEEQUSITFBBhNRYQcicRQygZGhCCNCscEVUtHwJDNicoIJChYXGBkaJSYnKCkqNDU2Nzg5OkNERUZHSElKU1RVVldY'
    'WVpjZGVmZ2hpanN0dXZ3eHl6g4SFhoeIiYqSk5SVlpeYmZqio6Slpqeoqaqys7S1tre4ubrCw8TFxsfIycrS09TV1tfY2drh4uPk5ebn'
    '6Onq8fLz9PX29/j5+v/aAA4EQwBNAFkASwAAPwCXz9U1LY8P2kW8mcXH714+M90mYnkY4B5qa31HUWlMd7cazM0jKsZjtjAFP+0W3DHT'
    'ngDmuVXQv9ithNRuWjJu9aiifPAiQyDH1JX+VB8ux+fFzLMU2uXaZ0J4yQrxMByPcj1p11De8/vNS/8AA+2qVdC/2KrTX/8A1H//ACX/'
    'APs6qyyzX3meTHbLsxnzjHD19N8Iz07VRuobLn95pv8A4H3NelLoX+xTR51tMJrc6NFKudrxgqw7cEJQf7JsPmzbTzI+9JnWFXQjGMbJ'
    'VHBGc9femWl9YQL5F1No0cCKdriI3Lk5zglwDjk85PYfSVdC/wBirk1//wBR/wD8l/8A7Ov/2Q=='
)
CMYK_CRC = 0x5E5C910B


def at(*names):
    return os.path.join(folder, *names)


def png(width, height, rows, depth=8, colour=2, palette=b'', comment=b''):
    """A PNG of rows of raw bytes, each filtered by Up but the first. COMMENT stands behind the pixels."""

    def chunk(kind, data):
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))

    body, above = b'', bytes(len(rows[0])) if rows else b''
    for row in rows:
        body += b'\2' + bytes((a - b) % 256 for a, b in zip(row, above))
        above = row
    return (
        b'\x89PNG\r\n\x1a\n'
        + chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, depth, colour, 0, 0, 0))
        + (chunk(b'PLTE', palette) if palette else b'')
        + chunk(b'IDAT', zlib.compress(body))
        + (chunk(b'tEXt', b'Comment\0' + comment) if comment else b'')
        + chunk(b'IEND', b'')
    )


def smooth(width, height):
    """Rows of pixels [red, green, blue] that change by little from one to the next."""
    a = [[rng.uniform(0, 0.2), rng.uniform(0, 0.2), rng.uniform(0, 6)] for _ in range(3)]
    return [[[int(127.5 + 127.4 * math.sin(p * x + q * y + r)) for p, q, r in a] for x in range(width)]
            for y in range(height)]


def triangles(n, out):
    """The weights of Pillow's bilinear resize of n places to out: (first, weights) of each output, of 22 bits."""
    scale = n / out
    wide = max(scale, 1.0)
    rows = []
    for i in range(out):
        centre = (i + 0.5) * scale
        first, end = max(int(centre - wide + 0.5), 0), min(int(centre + wide + 0.5), n)
        w = [max(1.0 - abs((k - centre + 0.5) * (1.0 / wide)), 0.0) for k in range(first, end)]
        rows.append((first, [int(0.5 + x / sum(w) * (1 << 22)) for x in w]))
    return rows


def weighed(values, weights):
    return min(max(((1 << 21) + sum(v * w for v, w in zip(values, weights))) >> 22, 0), 255)


def fit(pixels, size):
    """Resize(size), across and then down, and CenterCrop(size)."""
    h, w, short = len(pixels), len(pixels[0]), min(len(pixels), len(pixels[0]))
    width, height = (size, int(size * h / w)) if w == short else (int(size * w / h), size)
    rows = [[[weighed([p[c] for p in row[first : first + len(k)]], k) for c in range(len(row[0]))] for first,
             k in triangles(w, width)] for row in pixels]
    full = [[[weighed([r[x][c] for r in rows[first : first + len(k)]], k) for c in range(len(rows[0][0]))]
             for x in range(width)] for first, k in triangles(h, height)]
    top, left = round((height - size) / 2), round((width - size) / 2)
    return [row[left : left + size] for row in full[top : top + size]]


def flat(pixels):
    return tuple(struct.unpack('<f', struct.pack('<f', v / 255))[0] for row in pixels for p in row for v in p)


def train(data, run, *more):
    words = '--model mlp:width=0.01 --steps 1 --quiet --trace steps=0 --trace input.*'.split()
    return halfulp('train', *words, '--data', 'images:' + at(data), *more, at(run))


def fed(run):
    """The rows of the first step: {values: label}."""
    step = Tensors(at(run, 'trace', 'step-000000.safetensors'))
    x, labels = step['input.x'], step['input.labels']
    each = len(x) // len(labels)
    return {x[i * each : (i + 1) * each]: int(label) for i, label in enumerate(labels)}


def write(name, data):
    os.makedirs(os.path.dirname(at(name)), exist_ok=True)
    with open(at(name), 'wb') as f:
        f.write(data)


# --- every kind of PNG, wide, tall and square, smaller and larger than the size asked for
KINDS = ('rgb', 'rgba', 'grey', 'palette', 'deep', 'grey alpha', 'bits')
shapes = [(9, 31), (40, 11), (12, 12), (31, 22), (5, 6), (70, 16), (17, 64)]
wanted = {}
for i, kind in enumerate(KINDS):
    w, h = shapes[i]
    p = smooth(w, h)
    name = 'pets/train/%s/%d.%s' % ('bca'[i % 3], i, ('png', 'PNG')[i % 2])
    if kind == 'rgb':
        data = png(w, h, [bytes(v for x in row for v in x) for row in p])
    elif kind == 'rgba':
        data = png(w, h, [bytes(v for x in row for v in (*x, rng.randrange(256))) for row in p], colour=6)
    elif kind == 'grey':
        p = [[[x[0]] * 3 for x in row] for row in p]
        data = png(w, h, [bytes(x[0] for x in row) for row in p], colour=0)
    elif kind == 'palette':
        table = [[rng.randrange(256) for _ in range(3)] for _ in range(16)]
        index = [[rng.randrange(16) for _ in range(w)] for _ in range(h)]
        p = [[table[k] for k in row] for row in index]
        data = png(w, h, [bytes(row) for row in index], colour=3, palette=bytes(v for x in table for v in x))
    elif kind == 'deep':
        data = png(w, h, [b''.join(struct.pack('>H', v * 257) for x in row for v in x) for row in p], depth=16)
    elif kind == 'grey alpha':
        p = [[[x[1]] * 3 for x in row] for row in p]
        data = png(w, h, [bytes(v for x in row for v in (x[0], 9)) for row in p], colour=4)
    else:
        p = [[[255 * (x[2] > 99)] * 3 for x in row] for row in p]
        rows = [[x[0] // 255 for x in row] + [0] * (-w % 8) for row in p]
        data = png(w, h, [bytes(int(''.join(map(str, row[k : k + 8])), 2) for k in range(0, len(row), 8))
                          for row in rows], 1, 0)
    write(name, data)
    wanted[i] = p, 'abc'.index('bca'[i % 3])
for k, name in enumerate(('c/x.jpeg', 'a/deeper/y.jpg', 'b/z.JPG')):
    write('pets/valid/' + name, JPEG)
write('pets/valid/a/notes.txt', b'no image')
write('pets/valid/a/.hidden.png', b'no image')
for size in (12, 23):
    got = train('pets', 'run%d' % size, '--data', 'size=' + str(size), '--batch', '7')
    rows = fed('run%d' % size) if ok(got.returncode == 0, 'images of %d pixels' % size, got.stderr) else {}
    none([KINDS[i] for i, (p, label) in wanted.items() if rows.get(flat(fit(p, size))) != label],
         'are those that were written, scaled and cropped, and their classes the order of their names')
data = json.load(open(at('run12', 'manifest.json')))['dataset']
ok((data['train'], data['eval'], data['classes'], data['channels']) == (7, 3, 3, 3), 'train, valid, 3 classes', data)
got = train('pets', 'grey', '--data', 'size=12', '--batch', '7', '--data', 'channels=1')
p = fit([[[x[0]] for x in row] for row in wanted[2][0]], 12)
ok(got.returncode == 0 and fed('grey').get(flat(p)) == 0, 'one channel', got.stderr)

# --- JPEG: the bytes that Pillow has
for k in range(2):
    write('jpeg/%d/0.jpg' % k, JPEG)
    write('jpeg/%d/1.jpg' % k, JPEG)
got = train('jpeg', 'j', '--data', 'size=16', '--batch', '2')
rows = [bytes(round(v * 255) for v in x) for x in fed('j')] if got.returncode == 0 else []
ok([zlib.crc32(x) for x in rows] == [JPEG_CRC], 'a JPEG is decoded to the bytes that Pillow has', got.stderr)
for k in range(2):
    write('cmyk/%d/0.jpg' % k, CMYK)
    write('cmyk/%d/1.jpg' % k, CMYK)
got = train('cmyk', 'k', '--data', 'size=16', '--batch', '2')
rows = [bytes(round(v * 255) for v in x) for x in fed('k')] if got.returncode == 0 else []
ok([zlib.crc32(x) for x in rows] == [CMYK_CRC], 'and one of cyan, magenta, yellow and black', got.stderr)

# --- without a folder to evaluate on: every tenth image of a class, or its last
def plain(k, i, note):
    """A file of one colour; the middle 4 KiB of it lie in the comment, and the pixels before."""
    return png(3, 3, [bytes([k, i, 9] * 3)] * 3, comment=note * 10000)


for k, n in enumerate((23, 4)):
    for i in range(n):
        write('split/%d/%02d.png' % (k, i), plain(k, i, b'.') if i == 4 else png(3, 3, [bytes([k, i, 9] * 3)] * 3))
got = train('split', 's', '--data', 'size=3', '--batch', '24', '--model', 'width=0.1')
data = json.load(open(at('s', 'manifest.json')))['dataset'] if got.returncode == 0 else {}
seen = sorted((int(round(x[0] * 255)), int(round(x[1] * 255))) for x in fed('s')) if data else []
want = [(0, i) for i in range(23) if i % 10 != 9] + [(1, i) for i in range(3)]
ok(seen == want and (data['train'], data['eval']) == (24, 3),
   'every tenth image of a class is to evaluate on, or its last', [got.stderr, seen])
# The digest is over names, lengths and the middles of files; `read` has one over the pixels
def pixels_digest(rows):
    """The sum of the terms (lib/base/hash.h) of all rows, four bytes to a term."""
    STEP = 0x9E3779B97F4A7C15
    words = [row + bytes(-len(row) % 4) for row in rows]
    each = len(words[0]) // 4
    return '0x%016x' % (
        sum(
            mix64(fnv64('images') ^ (STEP * (i * each + w) + int.from_bytes(row[4 * w : 4 * w + 4], 'little')) % 2**64)
            for i, row in enumerate(words)
            for w in range(each)
        )
        % 2**64
    )


turns = [(k, i) for i in range(23) for k in range(2) if k == 0 or i < 3]
turns = [x for x in turns if x[0] or x[1] % 10 != 9] + [(1, 3), (0, 9), (0, 19)]
solid = [bytes([k, i, 9] * 9) for k, i in turns]
want = {'from_step': 0, 'rows': 27, 'digest': pixels_digest(solid)}
ok(data.get('read') == want, 'the manifest has a digest of the pixels that were read', [data, want])


def files_digest(turns, trained):
    """Of a folder split's names, lengths, middles, classes and sizes, before any image is decoded."""
    term = lambda name, i, x: mix64(fnv64(name) ^ (0x9E3779B97F4A7C15 * i + x) % 2**64)  # noqa: E731
    files = [('/%d/%02d.png' % x, os.path.getsize(at('split/%d/%02d.png' % x))) for x in turns]
    sizes = [trained, len(turns) - trained, 3, 3, 3, 2]
    terms = [term('classes', k, fnv64(str(k)) % 2**32) for k in range(2)]
    terms += [term('sizes', i, x) for i, x in enumerate(sizes)]
    for i, (name, size) in enumerate(files):
        terms += [term('files', 2 * i, fnv32(name)), term('files', 2 * i + 1, size), term('labels', i, turns[i][0])]
        with open(at('split' + name), 'rb') as f:
            data = f.read()
        first = max(size - 4096, 0) // 2
        terms.append(term('contents', i, fnv64(data[first : first + 4096])))
    return '0x%016x' % (sum(terms) % 2**64)


listed = files_digest(turns, 24)
ok(data.get('digest') == listed, 'and one of names, lengths, middles, classes and sizes', [data, listed])
write('split/0/04.png', plain(0, 104, b'.'))
got = train('split', 'other', '--data', 'size=3', '--batch', '24', '--model', 'width=0.1')
other = json.load(open(at('other', 'manifest.json')))['dataset'] if got.returncode == 0 else {}
solid[turns.index((0, 4))] = bytes([0, 104, 9] * 9)
want = dict(want, digest=pixels_digest(solid))
ok(other.get('digest') == data.get('digest') and other.get('read') == want,
   'other pixels before the middle of a file of the same length change that, and not the digest of the files',
   [got.stderr, data, other])
write('split/0/04.png', plain(0, 4, b','))
got = train('split', 'middle', '--data', 'size=3', '--batch', '24', '--model', 'width=0.1')
other = json.load(open(at('middle', 'manifest.json')))['dataset'] if got.returncode == 0 else {}
ok(other.get('digest') == files_digest(turns, 24) != listed and other.get('read') == data.get('read'),
   'other bytes in its middle change the digest of the files', [got.stderr, data, other])
write('split/0/04.png', plain(0, 4, b'.'))
got = train('split', 'few', '--data', 'size=3', '--batch', '5', '--data', 'train=5,eval=2')
seen = sorted((int(round(x[0] * 255)), int(round(x[1] * 255))) for x in fed('few')) if got.returncode == 0 else []
ok(seen == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)], 'fewer: in turn from every class', [got.stderr, seen])

# --- the folder to evaluate on has one of four names; the first that is there counts
for k, name in enumerate(('test', 'validation', 'valid', 'val')):
    for i in range(2):
        write('named/train/%d/0.png' % i, png(3, 3, [bytes([i, 1, 9] * 3)] * 3))
        for j in range(k + 1):
            write('named/%s/%d/%d.PNG' % (name, i, j), png(3, 3, [bytes([i, 2, 9] * 3)] * 3))
    got = train('named', 'named-' + name, '--data', 'size=3', '--batch', '2')
    data = json.load(open(at('named-' + name, 'manifest.json')))['dataset'] if got.returncode == 0 else {}
    counts = data.get('train'), data.get('eval')
    ok(counts == (2, 2 * k + 2), '%s: the images to evaluate on' % name, [got.stderr, data])

# --- threads, and rows that are made already
WORDS = '--model mlp:width=0.02 --data size=8 --batch 4 --epochs 3 --quiet --trace steps=none'.split()
digests = []
for threads in ('1', '2', '5'):
    run = at('t' + threads)
    got = halfulp('train', *WORDS, '--data', 'images:' + at('pets'), '--threads', threads, run)
    lines = open(run + '/metrics.tsv').read().splitlines() if got.returncode == 0 else [got.stderr]
    digests.append([x.split('\t')[-1] for x in lines if x[:1].isdigit()])
ok(digests[0] == digests[1] == digests[2] and len(digests[0]) == 3,
   'one, two and five threads train to the same bits', digests)
got = halfulp('verify', at('t2'))
ok(got.returncode == 0, 'and verify finds them again', got.stdout + got.stderr)
# --- other pixels under the same names and lengths are refused by verify, and where a run goes on
words = (
    '--model mlp:width=0.01 --data size=3 --batch 12 --epochs 2 --checkpoint-every 1 --quiet --trace steps=none'
    .split()
)
halfulp('train', *words, '--data', 'images:' + at('split'), at('whole'))


def stopped(name, read):
    """A copy of the run as it is after three of its four steps, which says `read` of what it read."""
    shutil.rmtree(at(name), ignore_errors=True)
    shutil.copytree(at('whole'), at(name))
    manifest = json.load(open(at(name, 'manifest.json')))
    manifest['finished'] = False
    manifest['dataset']['read'] = read
    os.remove(at(name, 'checkpoint', 'step-000004.safetensors'))
    del manifest['files']['checkpoint/step-000004.safetensors']
    json.dump(manifest, open(at(name, 'manifest.json'), 'w'))
    return halfulp('train', '--resume', '--quiet', at(name))


solid[turns.index((0, 4))] = bytes([0, 4, 9] * 9)
trained = {'from_step': 0, 'rows': 24, 'digest': pixels_digest(solid[:24])}
got = stopped('again', trained)
read = [json.load(open(at(x, 'manifest.json')))['dataset'].get('read') for x in ('again', 'whole')]
want = dict(trained, rows=27, digest=pixels_digest(solid))
ok(got.returncode == 0 and read == [want, want], 'a run goes on with the pixels that it had', [got.stderr, read])
wrong = stopped('again', dict(trained, digest='0x%016x' % (int(trained['digest'], 16) ^ 1)))
ok(wrong.returncode == 3 and len(wrong.stderr.splitlines()) == 1, 'and with no others', [wrong.stderr])
got = halfulp('verify', at('whole'))
ok(got.returncode == 0, 'verify finds them again', got.stdout + got.stderr)
write('split/0/04.png', plain(0, 104, b'.'))
for got in halfulp('verify', at('whole')), stopped('again', trained):
    ok(got.returncode == 3 and 'same files back' in got.stderr, 'one image of other pixels is seen', got.stderr)
write('split/0/04.png', plain(0, 4, b'.'))
write('split/0/05.png', png(3, 3, [bytes([0, 105, 9] * 3)] * 3))
for got in halfulp('verify', at('whole')), stopped('again', trained):
    told = got.stdout + got.stderr
    ok(got.returncode != 0 and 'data' in told and 'had pixels' not in told, 'a small one before any is decoded', told)
write('split/0/05.png', png(3, 3, [bytes([0, 5, 9] * 3)] * 3))
os.rename(at('pets/train/a/2.png'), at('pets/train/a/3.png'))
got = halfulp('verify', at('t2'))
ok(got.returncode != 0 and 'data' in got.stdout + got.stderr, 'a renamed image is seen', got.stdout + got.stderr)

# --- waiting for data: a large image costs its decoding once, and nothing where its rows are made already
def waits(*words):
    """wait_ms and ms of every step, and what --json says."""
    run = at('waits')
    got = halfulp('train', *'--model mlp:width=0.02 --trace steps=none --json'.split(), *words, run)
    lines = [x.split('\t') for x in open(run + '/metrics.tsv') if x[0] != '#']
    rows = [dict(zip(lines[0], x)) for x in lines[1:]]
    shutil.rmtree(run)
    return [(float(r['wait_ms']), float(r['ms'])) for r in rows], json.loads(got.stdout)


LARGE = png(1500, 1500, [bytes(1500)] * 1500, colour=0)
for k in range(8):
    write('large/%d/%d.png' % (k % 2, k), LARGE)
slow, said = waits(*'--data size=4 --batch 3 --epochs 2'.split(), '--data', 'images:' + at('large'))
# Six images are decoded in the first epoch's two steps; none in the second's.
ok(len(slow) == 4 and slow[0][0] > 2 and sum(w for w, _ in slow[:2]) > 4 * sum(w for w, _ in slow[2:]),
   'waiting for large images is told, once for each', slow)
none([x for x in slow if not 0 < x[0] <= x[1]], 'and is a part of the step')
ok(all(math.isclose(said[c], sum(x[k] for x in slow) / 4, rel_tol=1e-9) for k, c in enumerate(('wait_ms', 'ms'))),
   '--json has the means', said)
quick, said = waits(*'--data digits:size=8,train=64,eval=8 --batch 4'.split())
ok(sorted(w for w, _ in quick)[len(quick) // 2] < 0.2, 'data in memory are not waited for', said)

# --- what is refused
PLAIN = png(4, 4, [bytes(12)] * 4)


def refused(what, say, *files, link=None, code=3):
    shutil.rmtree(at('bad'), ignore_errors=True)
    for name, data in [('%d/%d.png' % (n // 3, n % 3), PLAIN) for n in range(6)] + list(files):
        write('bad/' + name, data)
    if link:
        os.symlink(link, at('bad/1/zz.png'))
    r = train('bad', 'refused', '--batch', '4', '--data', 'size=4')
    ok(r.returncode == code and len(r.stderr.splitlines()) == 1 and say in r.stderr,
       '%s: one line, exit %d' % (what, code), [r.returncode, r.stdout, r.stderr])
    shutil.rmtree(at('refused'), ignore_errors=True)


refused('a JPEG cut short', '0/0.jpg: this JPEG is damaged or cut short', ('0/0.jpg', JPEG[:-40]))
refused('a JPEG without its last two bytes', 'cut short', ('1/0.jpg', JPEG[:-2]))
refused('a PNG cut short', '0/1.png: this PNG is damaged or cut short', ('0/1.png', PLAIN[:50]))
huge = png(60000, 60000, [])
refused('60 000 x 60 000 pixels', '60000 x 60000 pixels', ('1/1.png', huge))
refused('another file called .png', 'neither a JPEG nor a PNG', ('1/1.png', b'GIF89a' + bytes(40)))
refused('an empty file', 'neither a JPEG nor a PNG', ('1/1.png', b''))
if os.path.exists('/proc/self/mem'):  # which nobody can read from its beginning
    cause = 'zz.png: this image cannot be read: Input/output'
    refused('a file that cannot be read', cause, link='/proc/self/mem', code=4)
refused('a class without an image', 'bad/2: there is no image', ('2/readme.txt', b'none'))
refused('a class that is not trained on', 'bad/val/9: the images to train on', ('train/0/a.png', PLAIN),
        ('train/1/a.png', PLAIN), ('val/9/a.png', PLAIN))
refused('one class alone', 'one class alone', ('train/0/a.png', PLAIN))
for path, say in (('nowhere', 'there is no such folder'), ('bad/0/0.png', 'Not a directory'), ('bad/0', 'no folders')):
    r = train(path, 'refused', '--batch', '4')
    ok(r.returncode == 3 and len(r.stderr.splitlines()) == 1 and say in r.stderr, '%s: one line, exit 3' % path,
       r.stderr)
r = train('pets', 'refused', '--data', 'channels=2')
ok(r.returncode == 2 and 'channels' in r.stderr, 'two channels: exit 2', r.stderr)
finish()
