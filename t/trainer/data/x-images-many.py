# SPDX-License-Identifier: Apache-2.0
"""A folder of 100 000 images, ten names a file: training starts within seconds, and needs no more than 200 MB beside
the pixels of the images that its steps have read."""

import os
import resource
import struct
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import finish, halfulp, home, ok, skip_all  # noqa: E402

CLASSES, EACH, SIZE, BATCH, STEPS, EVALUATED = 10, 10000, 64, 64, 2, 100
folder = home()


def chunk(kind, data):
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))


rows = zlib.compress((b'\0' + bytes(range(48))) * 16)
image = b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 16, 16, 8, 2, 0, 0, 0))
image += chunk(b'IDAT', rows) + chunk(b'IEND', b'')
for k in range(CLASSES):
    os.makedirs('%s/images/%d' % (folder, k))
    first = '%s/images/%d/00000.png' % (folder, k)
    with open(first, 'wb') as f:
        f.write(image)
    try:
        for i in range(1, EACH):
            os.link(first, '%s/images/%d/%05d.png' % (folder, k, i))
    except OSError as why:
        skip_all('no file can have %d names here: %s' % (EACH, why))

run = ['--data', 'images:%s/images' % folder, '--data', 'size=' + str(SIZE), '--batch', str(BATCH), '--steps',
       str(STEPS)]
run += ['--data', 'eval=' + str(EVALUATED), '--model', 'mlp:width=0.05', '--trace', 'steps=none', '--quiet']
got = halfulp('train', *run, folder + '/run')
used = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds, megabytes = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
read = (STEPS * BATCH + EVALUATED) * SIZE * SIZE * 3 / 2**20
ok(got.returncode == 0, '%d images in %d classes are trained on' % (CLASSES * EACH, CLASSES), got.stderr)
ok(seconds < 5, 'after %.1f s of the processor %d steps are done' % (seconds, STEPS))
ok(megabytes < 200 + read, '%.0f MB, of which the pixels that were read are %.0f' % (megabytes, read))
finish()
