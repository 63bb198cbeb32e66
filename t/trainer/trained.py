# SPDX-License-Identifier: Apache-2.0
# Trainings of a test: their folder, the command line that they share, and what they wrote.
import json
import os
import shutil
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import NO_SHIM, halfulp, has_shim, home, ok, skip  # noqa: E402
from tensorsfile import Tensors  # noqa: E402


class Trainings:
    """Runs in a folder of the test's own, which finish() removes; WORDS begin each command line."""

    def __init__(self, words=''):
        self.folder, self.words = home(), words

    def at(self, *names):
        """The path of a run, or of a file in it."""
        return os.path.join(self.folder, *names)

    def train(self, words, run):
        """Whether the training ended well; where it did not, that is a test that failed. Where this build has no launch
        shim, a training on it is skipped."""
        if '--backend shim' in words and not has_shim():
            skip('train ' + words, NO_SHIM)
            return False
        p = halfulp('train', *(self.words + ' ' + words).split(), self.at(run))
        return p.returncode == 0 or not ok(False, 'train ' + words, p.stderr)

    def column(self, run, name, table='metrics.tsv'):
        """A column of a run's table, as texts."""
        rows = [line.rstrip('\n').split('\t') for line in open(self.at(run, table)) if line[0] != '#']
        return [r[rows[0].index(name)] for r in rows[1:]]

    def resumed(self, run, copy, step, start=halfulp):
        """Resumes a copy of a run as it was when it had done STEP steps, by START: what the program said. The run's
        last checkpoint is a later one, and all that its tables have beyond STEP has to be forgotten."""
        shutil.copytree(self.at(run), self.at(copy))
        last = 'checkpoint/' + max(os.listdir(self.at(copy, 'checkpoint')))
        os.remove(self.at(copy, last))
        manifest = json.load(open(self.at(copy, 'manifest.json')))
        manifest.update(steps_done=step, finished=False)
        del manifest['files'][last]
        json.dump(manifest, open(self.at(copy, 'manifest.json'), 'w'))
        return start('train', '--resume', '--quiet', self.at(copy))

    def program(self, run, which='train'):
        return json.load(open(self.at(run, 'program-%s.json' % which)))

    def traced(self, run, step):
        return Tensors(self.at(run, 'trace', 'step-%06d.safetensors' % step))


def perceptron(tensors, row):
    """The outputs of the model mlp for one row, in double, by its weights and biases in a traced step or checkpoint."""
    for k in (1, 2, 3):
        w, b = tensors['dense%d.w' % k], tensors['dense%d.b' % k]
        row = [b[j] + sum(x * w[i * len(b) + j] for i, x in enumerate(row)) for j in range(len(b))]
        row = row if k == 3 else [max(0.0, x) for x in row]
    return row


def f32(x):
    """X rounded to float32."""
    return struct.unpack('<f', struct.pack('<f', x))[0]
