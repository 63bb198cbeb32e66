# SPDX-License-Identifier: Apache-2.0
# Runs with files that training did not write so: numbers of a trace that were changed, and a history of 5000 steps that
# nobody ran.
import json
import os
import struct

from .files import table


def forget(path, *files):
    """Takes files out of the manifest, so that they may be others."""
    name = os.path.join(path, 'manifest.json')
    m = json.load(open(name))
    for f in files:
        m['files'].pop(f, None)
    json.dump(m, open(name, 'w'))


def tamper(path, step, tensor, element, by):
    """Adds BY to a number of a trace; of what nobody reads it may be infinite."""
    file = 'trace/step-%06d.safetensors' % step
    name = os.path.join(path, file)
    raw = bytearray(open(name, 'rb').read())
    head = struct.unpack('<Q', raw[:8])[0]
    about = json.loads(raw[8:8 + head])[tensor]
    size, kind = {'F32': (4, 'f'), 'F16': (2, 'e'), 'BF16': (2, 'f')}[about['dtype']]
    at, half = 8 + head + about['data_offsets'][0] + size * element, bytes(2 * (about['dtype'] == 'BF16'))
    changed = struct.pack('<' + kind, struct.unpack('<' + kind, half + raw[at:at + size])[0] + by)
    raw[at:at + size] = changed[len(half):]
    open(name, 'wb').write(raw)
    forget(path, file)


def long_history(path):
    """Metrics and gradients of 5000 steps that nobody ran: quiet stretches, overflows alone and in rows, gradients that
    grow."""
    columns, rows = table(os.path.join(path, 'metrics.tsv'))
    gradients = sorted({x['tensor'] for x in table(os.path.join(path, 'grads.tsv'))[1]})
    metrics, grads = ['\t'.join(columns)], ['step\ttensor\tamax\tnonzeros\tzeros\tnonfinite']
    for n in range(5000):
        skipped = n % 1200 in (700, 701, 707) or 4000 <= n < 4006 or 2600 < n < 2640
        row = dict(rows[-1], step=str(n), loss_scale=repr(2.0 ** (15 + n // 1500)), skipped=str(int(skipped)),
                   overflow_count='3' if skipped and n % 2 else '-')
        metrics.append('\t'.join(row[c] for c in columns))
        for k, t in enumerate(gradients):
            bad = int(n in (1950, 2450) and k == 1)
            amax = (0.001 + 0.3 * (n % 977) / 977) * (k + 1) if n or k else 4.0  # the very first overflows
            grads.append('%d\t%s\t%r\t5\t0\t%d' % (n, t, amax, bad))
    open(os.path.join(path, 'metrics.tsv'), 'w').write('\n'.join(metrics) + '\n')
    open(os.path.join(path, 'grads.tsv'), 'w').write('\n'.join(grads) + '\n')
    forget(path, 'metrics.tsv', 'grads.tsv')
