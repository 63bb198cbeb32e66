# SPDX-License-Identifier: Apache-2.0
"""Trainings beside the same in float64: each takes two recorded steps, and the same two in float64 from the same
weights. Where the word is harmless, what float64 adds to the weights has a cosine of 0.999 or more to what the
training added, and a length within a tenth; where float64 has another length than half to twice that, or the training
ends without numbers, the word is fatal. Every call is judged, and of the first step the cosine is told that float64
has."""
import json
import math
import warnings

import confirmed
from recorded import Run, halfulp_trace, torch
from tap import none, ok

MODES = {'bf16': (torch.bfloat16, None), 'fp16': (torch.float16, None), 'autocast': (torch.float32, torch.bfloat16)}
warnings.simplefilter('ignore')


def weights(model):
    whole = getattr(model, 'whole', None)            # weights and what is kept for them
    own = whole() if whole else [p.detach() for p in model.parameters()]   # of which averages are some
    return torch.cat([(torch.view_as_real(p) if p.is_complex() else p).double().flatten() for p in own])


def beside(a, b):
    """The cosine of two updates, and how many times as long the second one is."""
    x, y = float(a.norm()), float(b.norm())
    return float(a @ b) / (x * y) if x * y else 0.0, y / x if x else 1.0


def cells(path):
    with open(path) as f:
        return [line.rstrip('\n').split('\t') for line in f if not line.startswith('#')]


def judged(make, mode):
    """The word, cosines and lengths of the first and of both steps, the cosine told of the first, and what is amiss."""
    dtype, low = MODES[mode]
    torch.manual_seed(1)
    model, step = make(dtype)
    torch.manual_seed(1)
    twin, its = make(torch.float64)
    with torch.no_grad():
        for p, q in zip(twin.parameters(), model.parameters()):
            p.copy_(q)
        for p, q in zip(twin.buffers(), model.buffers()):
            p.copy_(q)
    recorder = halfulp_trace.record(model, 'run', overwrite=True, strict=True)
    start, other, seen = weights(model), weights(twin), []
    for k in range(2):
        with recorder, torch.autocast('cpu', low or torch.bfloat16, enabled=low is not None):
            step(k)
        its(k)
        seen.append(beside(weights(twin) - other, weights(model) - start))
    run = Run('run', recorder)
    code, text, outside = run.analyzed()
    with open('run/analysis/summary.json') as f:
        summary = json.load(f)
    rows = cells('run/analysis/weights.tsv')
    row = next((dict(zip(rows[0], r)) for r in rows if r[:2] == ['0', 'all'] and 'parameter' in r), None)
    whole = row and row['cosine'] != '-' and int(row['updates_judged']) == int(row['elements'])
    told = float(row['cosine']) if whole else None
    stale = 'a cast from before the update'              # which autocast keeps where a block holds several updates
    known = {'what was not recorded', stale}         # gradients that an earlier step left
    if not math.isfinite(seen[-1][1]):
        known.add('aten.add_')                       # whose factor of L-BFGS is NaN, too
    opaque = sorted(set(run.opaque()) - known)
    head, *rows = cells('run/analysis/replay.tsv')
    beyond = confirmed.unconfirmed('run', [dict(zip(head, r)) for r in rows]) if outside else []
    return summary['verdict_word'], seen, told, ' '.join(opaque + beyond), (
        row is None or int(row['nonfinite']) or stale in run.opaque())   # a step that is skipped has no row


def hold(trainings, few=False):
    """Judges trainings by name, each in every mode. `few` says that not all words need be among them. Returns the
    word of each."""
    clear, fatal, apart, amiss, words, every = [], [], [], [], {}, {}
    for name, make in trainings.items():
        for mode in MODES:
            word, seen, told, found, broken = judged(make, mode)
            (first, _), (cosine, length) = seen
            what = '%s, %s: %s; float64 has a cosine of %.5f and %.3f times the length' % (
                name, mode, word, cosine, length)
            print('# ' + what)
            words[word] = words.get(word, 0) + 1
            every[name, mode] = word
            if word == 'harmless' and not (cosine >= 0.999 and 1 / 1.1 <= length <= 1.1):
                clear.append(what)
            if not 0.5 <= length <= 2 and word != 'fatal':
                fatal.append(what)
            if not broken and (told is None or abs(told - first) > 2e-3):
                apart.append('%s: %s is told of the first step, and float64 has %.5f' % (what, told, first))
            if found:
                amiss.append('%s: %s' % (what, found))
    none(clear, 'no all-clear is wrong')
    none(fatal, 'where updates are twice as long or half as long, or no numbers, the word is fatal')
    none(apart, 'the cosine of the first update is that of float64')
    none(amiss, 'every call is judged, and each output outside its bound is so by float64')
    ok(few or all(words.get(w, 0) > 4 for w in ('harmless', 'costs', 'fatal')), 'all words are among them',
       words)
    return every
