# SPDX-License-Identifier: Apache-2.0
# loss-scale-timeline.tsv: the scales that other rules would have taken over the run's recorded steps.
import os

from .files import table
from .loss_scale import limits
from .number import FORMATS

# name: first scale, steps before it grows, floor, cap, overflows before it falls. All double and halve. GradScaler of
# PyTorch, LossScaleOptimizer of Keras 3, LossScaler of Apex, DynamicLossScaler of DeepSpeed with the defaults of its
# fp16 section.
RULES = {'pytorch': (65536, 2000, 0, 0, 1), 'keras': (32768, 2000, 0, 0, 1), 'apex': (65536, 2000, 0, 16777216, 1), 'deepspeed': (65536, 1000, 1, 0, 2)}


class Scaler:
    def __init__(self, name):
        self.name = name
        self.scale, self.interval, self.floor, self.cap, self.hysteresis = RULES[name]
        self.good, self.left, self.step, self.last = 0, self.hysteresis, 0, -1

    def take(self, overflow):
        if self.name == 'deepspeed':
            if overflow:
                if self.left == 1:
                    self.scale = max(self.scale / 2, self.floor)
                else:
                    self.left -= 1
                self.last = self.step
            elif (self.step - self.last) % self.interval == 0:
                self.left = self.hysteresis
                self.scale *= 2
        elif overflow:
            self.scale, self.good = self.scale / 2, 0
        else:
            self.good += 1
            if self.good == self.interval:
                self.good = 0
                self.scale = min(self.scale * 2, self.cap) if self.cap else self.scale * 2
        self.step += 1


def history(run):
    """Step, recorded scale, skipped, overflowed, largest unscaled gradient: a tuple a step."""
    amax, bad = {}, set()
    for row in table(os.path.join(run.path, 'grads.tsv'))[1]:
        n = int(row['step'])
        if row['amax'] not in ('-', 'nan', 'inf'):
            amax[n] = max(amax.get(n, 0.0), float(row['amax']))
        if int(row['nonfinite']):
            bad.add(n)
    for row in table(os.path.join(run.path, 'metrics.tsv'))[1]:
        n = int(row['step'])
        skipped = row['skipped'] == '1'
        scale = 1.0 if row['loss_scale'] == '-' else float(row['loss_scale'])
        yield n, scale, skipped, skipped or n in bad or (row['overflow_count'] not in ('-', '0')), amax.get(n, 0.0)


def verdict(scale, past, weight, top):
    """Whether SCALE would have overflowed, and whether that is unknown."""
    n, recorded, skipped, overflowed, amax = past
    if overflowed:
        return int(scale >= recorded), int(scale < recorded)
    if scale <= recorded:
        return 0, 0
    over = amax * scale * weight >= top
    return int(over), int(not over)


def rows(run):
    steps = list(history(run))
    narrow = [t['format'] for t in run.tensors if t.get('loss_scaled') and t['class'] == 'wgrad' and FORMATS[t['format']][0] <= 16]
    top = float(limits(min(narrow, key=lambda f: FORMATS[f][0]) if narrow else 'fp16')[1])
    weight = float(run.manifest.get('loss_weight') or 1)
    lines = []
    for name in RULES:
        scaler, points = Scaler(name), []
        for past in steps:
            over, unknown = verdict(scaler.scale, past, weight, top)
            points.append((float(scaler.scale), over, unknown))
            scaler.take(over)
        lines.append((name, points))
    lines.append(('recorded', [(past[1], int(past[2]), 0) for past in steps]))
    for name, points in lines:
        for i, p in enumerate(points):
            if i == 0 or i == len(points) - 1 or p != points[i - 1] or p != points[i + 1]:
                yield {'step': steps[i][0], 'scaler': name, 'scale': p[0], 'skipped': p[1], 'unknown': p[2]}
