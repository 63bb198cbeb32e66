# SPDX-License-Identifier: Apache-2.0
# Promise: A file of a recording of PyTorch gets its name once its bytes are on the disk, and the disk is told of the
# name before the next file is written.
"""A file of a recording gets its name once its bytes are on the disk, and the disk is told of the name before the next
file is written: where the machine stops, too, what has a final name is whole."""
import errno
import os
import stat
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import loss, net, record, torch  # noqa: E402
from halfulp_trace import arena, laid  # noqa: E402
from tap import finish, home, none, ok  # noqa: E402

os.chdir(home())
events, real = [], {name: getattr(os, name) for name in ('fsync', 'replace', 'pwrite')}


def place(file):
    s = os.fstat(file)
    return s.st_dev, s.st_ino


def fsync(file):
    events.append(('fsync', place(file)))
    real['fsync'](file)


def replace(part, path):
    s = os.stat(part)
    folder = os.stat(os.path.dirname(path) or '.')
    events.append(('replace', (s.st_dev, s.st_ino), (folder.st_dev, folder.st_ino), path, s.st_size))
    real['replace'](part, path)


def pwrite(file, data, at):
    events.append(('pwrite', place(file)))
    return real['pwrite'](file, data, at)


os.fsync, os.replace, os.pwrite = fsync, replace, pwrite
arena.MEMORY = arena.LARGE = 0                   # so that the second trace is laid out as the first
model = net()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
became, usual = [], laid.Laid.becomes
laid.Laid.becomes = lambda self, *a: became.append(usual(self, *a)) or became[-1]


def train(step):
    opt.zero_grad()
    loss(model, rows=64 * 16).backward()
    opt.step()


record('run', model, train, 3, optimizer=opt)
early, untold, names = [], [], set()
for k, e in enumerate(events):
    if e[0] != 'replace':
        continue
    names.add(os.path.basename(e[3]))
    mine = [x[0] for x in events[:k] if x[1] == e[1] and x[0] in ('fsync', 'pwrite')]
    if not mine or mine[-1] != 'fsync' or not e[4]:
        early.append(e[3])
    if events[k + 1:k + 2] != [('fsync', e[2])]:
        untold.append(e[3])
none(early, 'of %d files none had its name before its bytes were on the disk' % sum(e[0] == 'replace' for e in events))
none(untold, 'and the disk was told of each')
ok(names == {'step-000000.safetensors', 'step-000001.safetensors', 'step-000002.safetensors', 'metrics.tsv',
             'grads.tsv', 'program-train.json', 'manifest.json'}, 'files of every kind are among them', names)
ok(True in became, 'and traces that were laid out before their step ended', became)


# A file system that knows no such call is none that failed; a disk that fails is.
def failing(code, folders):
    def fsync(file):
        if stat.S_ISDIR(os.fstat(file).st_mode) == folders:
            raise OSError(code, os.strerror(code))
        real['fsync'](file)
    return fsync


ERRORS = (('EINVAL of a folder', errno.EINVAL, True, False), ('EROFS of a file', errno.EROFS, False, False),
          ('EIO of a folder', errno.EIO, True, True), ('EIO of a file', errno.EIO, False, True))
for name, code, folders, told in ERRORS:
    os.fsync, why = failing(code, folders), ''
    try:
        record('run-' + name.replace(' ', '-'), model, train, 1, optimizer=opt)
    except OSError as e:
        why = e.strerror
    ok(bool(why) == told, '%s is %s' % (name, 'told' if told else 'passed over'), why)
os.fsync = fsync
finish()
