#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# mutate-gate.py --covered BUILD --log FILE [--count N] [--seed S] [--limit SECONDS] [BUILD]: what `gate` says of a
# mutated library, trainer or command line. Two small trainings with an exercise are recorded by BUILD. The lines that
# their training executes, which the build of --covered knows (configure CFLAGS='-O0 --coverage'), are mutated one at a
# time; the program linked with the mutant is gated; one mutation in five is of an option instead. N of all, drawn by S.
# Whether a mutation changed anything is asked of the run's files, byte by byte, here: which call's recorded output is
# the first that differs, and none where nothing does. Prints a row a mutation and the table of doc/gate.md. --log: as
# that of mutate.py.
import argparse
import collections
import glob
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from mutation.builder import Builder, end  # noqa: E402
from mutation.recorded import effect  # noqa: E402
from mutation.rules import SOURCES, WORDS, candidates, functions  # noqa: E402

HEAD = 'unit\tplace\tfrom\tto\teffect\tverdict\tcall\tcause\tline'
FOLDERS = (
    'lib/number', 'lib/sum', 'lib/op', 'lib/program', 'trainer/optim', 'trainer/model', 'trainer/data', 'trainer/run'
)
SETUPS = {
    'mlp': (
        '--model mlp:width=0.125 --data size=8,train=256,eval=64 --batch 32 --epochs 1 --policy mixed_float16'
        ' --exercise'.split()
    ),
    'convnet': (
        '--model convnet:width=0.0625 --data size=8,train=64,eval=32 --batch 16 --epochs 1 --policy mixed_float16'
        ' --loss-scale init=1024 --exercise'.split()
    ),
}
# Of the command line: the option, and values that are not the set-ups'.
OPTIONS = [
    ('lr', '0.00101 0.002 0.0009'),
    ('optimizer:beta1', '0.89 0.91'),
    ('optimizer:beta2', '0.99 0.9'),
    ('optimizer:eps', '1e-3 1.1e-7'),
    ('optimizer:weight_decay', '0 0.02'),
    ('optimizer:momentum', '0.5'),
    ('optimizer', 'adam sgd nesterov'),
    ('schedule', 'cosine linear step'),
    ('schedule:warmup', '2'),
    ('optimizer:clip_norm', '0.1'),
    ('optimizer:clip_value', '1e-3'),
    ('optimizer:no_decay', '*.b'),
    ('loss-scale', 'none keras static:1048576'),
    ('loss-scale:init', '512 2^20'),
    ('loss-scale:growth', '4'),
    ('loss-scale:backoff', '0.25'),
    ('loss-scale:interval', '200 100'),
    ('loss-scale:floor', '2'),
    ('loss-scale:cap', '4096'),
    ('loss-scale:hysteresis', '2'),
    ('loss:weight', '2'),
    ('loss:label_smoothing', '0.1'),
    ('accumulate', 'chunk:64 kahan fma,acc=fp16 pairwise'),
    ('seed', '2'),
    ('data:seed', '1'),
    ('batch', '8'),
    ('model:width', '0.25'),
    ('data:train', '320'),
    ('data:eval', '48'),
    ('data:size', '9'),
    ('policy', 'mixed_bfloat16 float16 float32 compute=fp16,mode=RZ'),
    ('epochs', '2'),
    ('trace', '*.w'),
    ('trace-steps', 'first'),
    ('checkpoint-every', '2'),
]


def word(option, value):
    """The option as it is typed, --optimizer=lr=0.1 or --optimizer=beta1=0.9."""
    return '--%s=%s' % (option.replace(':', '=', 1), value)


def arguments():
    a = argparse.ArgumentParser()
    a.add_argument('--covered', required=True)
    a.add_argument('--log', required=True)
    a.add_argument('--count', type=int, default=300)
    a.add_argument('--seed', type=int, default=1)
    a.add_argument('--limit', type=float, default=1e9)
    a.add_argument('build', nargs='?', default='.')
    return a.parse_args()


# --- what a training executes ------------------------------------------------------------
def executed(covered, home):
    """Lines by file, of the trainings alone."""
    for f in glob.glob(covered + '/**/*.gcda', recursive=True):
        os.remove(f)
    for name, options in SETUPS.items():
        subprocess.run(
            [
                covered + '/halfulp', 'train', '--threads', '1', '--backend', 'simd=scalar', '--quiet', *options,
                home + '/covered-' + name
            ],
            check=True,
        )
    lines = collections.defaultdict(set)
    for f in glob.glob(covered + '/**/*.gcda', recursive=True):
        out = subprocess.run(['gcov', '-j', '-t', f], capture_output=True, cwd=covered).stdout
        for part in out.splitlines():
            for file in json.loads(part)['files']:
                found = re.search(r'((?:%s)/.*)' % '|'.join(FOLDERS), file['file'])
                if found:
                    lines[found[1]].update(l['line_number'] - 1 for l in file['lines'] if l['count'])
    return lines


def universe(top, lines):
    """All mutations of executed lines of functions, by the rules of mutate.py, with the unit that is compiled."""
    for path in sorted(lines):
        if not path.endswith('.c'):
            continue
        for _, body in functions(top, path):
            for m in candidates(top, path, SOURCES, WORDS, body & lines[path]):
                yield path, m


# --- a mutant ------------------------------------------------------------
def run(program, *line, limit=40):
    """Its status and words; what it started ends with it."""
    p = subprocess.Popen(
        [program, *line], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors='replace',
        stdin=subprocess.DEVNULL, start_new_session=True,
        env=dict(os.environ, OMP_NUM_THREADS='1', MALLOC_PERTURB_='85', HALFULP_RESULTS='tap')
    )
    try:
        out, err = p.communicate(timeout=limit)
        return p.returncode, out, err
    except subprocess.TimeoutExpired:
        end(p)
        p.communicate()
        return 124, '', 'it hangs'


def train(setup, more=()):
    return ['--threads', '1', '--backend', 'simd=scalar', *SETUPS[setup], *more]


def record(program, home):
    for setup in SETUPS:
        for line in (
            ['train', '--quiet', *train(setup), home + '/' + setup],
            ['analyze', home + '/' + setup],
            ['baseline', home + '/' + setup, '-o', home + '/%s.tsv' % setup, '--reason', 'as it is'],
        ):
            code, out, err = run(program, *line)
            if code:
                sys.exit('mutate-gate.py: %s: %s%s' % (' '.join(line), out[-500:], err[-500:]))


def said(line, setup, changed, option, home):
    """Whether the first line names the call (or, of an option, the option) and the cause."""
    was, _, cause = line.partition('Most likely cause: ')
    if option:
        named = re.search(
            r'(another setting|another seed|other input data|another program|other casts|another summation tree|train'
            r' with --).*',
            cause,
        )
        kind, _, key = option.rpartition(':')
        names = ['input data'] if kind == 'data' else [key, key.replace('-', '_'), option]
        right = bool(named) and any(n in cause for n in names)
        return right, right
    step, _, what = changed.partition(' ')
    if changed.startswith('program'):
        # Where the mutant finds another optimizer or policy its run says so
        right = 'though the settings are the same' in cause or 'which makes train call' in cause
        return right, right
    if what.startswith('call '):
        call = re.search(r'\b%s\b' % what, line) is not None
        return call, ('arithmetic of %s ' % what in cause) if step == '0' else 'arithmetic of' in cause
    if what.startswith('input '):
        began = (
            'another batch in step 0'
            if what.startswith('input input.')
            else 'other values that the training began with'
        )
        # Samples that are drawn in another way have another digest, which stands before what step 0 began with
        right = (began in cause and what[6:] in cause) or cause.startswith('other input data: their digest is')
        return right, right
    return True, 'arithmetic' in cause or 'exercise' in cause or 'evaluation' in cause


def judge(program, home, options, option):
    """(effect, verdict, call, cause, first line) over both set-ups: the first that is red ends it."""
    last = ('', 'green', '-', '-', '')
    for setup in SETUPS:
        where = '%s/new-%s' % (home, setup)
        shutil.rmtree(where, ignore_errors=True)
        code, out, err = run(
            program, 'gate', '--baseline', '%s/%s.tsv' % (home, setup), where, '--', *train(setup, options)
        )
        if not os.path.exists(where + '/manifest.json') or not json.load(open(where + '/manifest.json')).get(
            'finished'
        ):
            return (
                'no run', 'red' if code else 'green', '-', '-', err.strip().split('\n')[-1][:160] or 'exit %d' % code
            )
        try:
            changed = effect('%s/%s' % (home, setup), where)
        except (ValueError, KeyError, OSError, struct.error) as e:
            changed = 'unreadable ' + type(e).__name__
        line = (
            next((l[2:] for l in out.split('\n') if l.startswith('# ')), '')
            if code == 1
            else err.strip().split('\n')[-1][:160]
        )
        if code > 1:
            return (changed, 'red', '-', '-', line or 'exit %d' % code)
        if code == 1:
            call, cause = said(line, setup, changed, option, home)
            return (changed, 'red', 'yes' if call else 'no', 'yes' if cause else 'no', line)
        if changed:
            last = (setup + ': ' + changed, 'green', '-', '-', '')
    return last


def jobs(top, lines, count, rng):
    sources = list(universe(top, lines))
    options = [(o, v) for o, values in OPTIONS for v in values.split()]
    rng.shuffle(sources)
    rng.shuffle(options)
    print(
        '# %d mutations of %d executed lines, %d of options'
        % (len(sources), sum(map(len, lines.values())), len(options)),
        flush=True,
    )
    while count and sources:
        count -= 1
        if count % 5 == 0 and options:
            yield 'option', options.pop()
        else:
            yield 'source', sources.pop()


def main():
    import time

    a, top = arguments(), os.path.abspath(os.environ.get('srcdir', '.'))
    build, until = os.path.abspath(a.build), time.time() + a.limit
    home = os.path.join(build, 'mutate-gate')
    code, out = Builder(top, build, 77).shell('make -s halfulp t/libtap.a', 3600)
    if code:
        sys.exit('mutate-gate.py: the program does not build:\n' + out[-1000:])
    shutil.rmtree(home, ignore_errors=True)
    os.makedirs(home)
    record(build + '/halfulp', home)
    lines = executed(os.path.abspath(a.covered), home)
    known = {}
    if os.path.exists(a.log):
        known = {tuple(l.split('\t')[:4]): l for l in open(a.log).read().splitlines()[1:]}
    else:
        open(a.log, 'w').write(HEAD + '\n')
    builder, rows, done = Builder(top, build, 77), [], 0
    for kind, job in jobs(top, lines, 10**9, random.Random(a.seed)):
        if done >= a.count or time.time() > until:
            break
        if kind == 'option':
            key, of = ('option', '--' + job[0], '', job[1]), None
        else:
            unit, m = job
            text = open(os.path.join(top, m[0])).read().split('\n')[m[1]]
            key, of = (
                unit, '%s:%d' % (m[0], m[1] + 1), text.strip().replace('\t', ' '),
                (text[: m[2]] + m[5] + text[m[3] :]).strip().replace('\t', ' ')
            ), m
        row = known.get(key)
        if row is None:
            if of is None:
                end = judge(build + '/halfulp', home, [word(*job)], job[0])
                end = end if end[0] != 'no run' or end[1] != 'red' else ('refused',) + end[1:]
            else:
                code, _, _ = builder.compile(unit, of)
                if code:
                    continue
                if builder.same(unit, of[0]):
                    end = ('same code', 'none', '-', '-', '')
                else:
                    code, out = builder.link('halfulp.o', 'halfulp')
                    if code:
                        sys.exit('mutate-gate.py: a mutant does not link:\n' + out[-1000:])
                    end = judge(os.path.join(builder.dir, 'halfulp'), home, [], None)
            row = '\t'.join(key + tuple(x.replace('\t', ' ') for x in end))
            open(a.log, 'a').write(row + '\n')
        cells = row.split('\t')
        rows.append(cells)
        done += cells[5] != 'none' and not (cells[5] == 'green' and not cells[4]) and cells[4] != 'refused'
        print('\t'.join(cells[:8])[:300], flush=True)
    summary(rows)


def summary(rows):
    """A mutation that changed no byte of what was recorded is no drift; it is counted apart."""
    none = [r for r in rows if r[5] == 'none']
    still = [r for r in rows if r[5] == 'green' and not r[4]]
    refused = [r for r in rows if r[4] == 'refused']
    rest = [r for r in rows if r not in none and r not in still and r not in refused]
    red, named = [r for r in rest if r[5] == 'red'], [r for r in rest if r[5] == 'red' and r[6] != '-']
    print(
        '# %d mutants: %d of the same code, %d that change no recorded byte, %d option values that train refuses'
        % (len(rows), len(none), len(still), len(refused))
    )
    print(
        '# of %d that change something or end the training %d are red (%.1f %%); of %d with a first line %d name the'
        ' call (%.1f %%), %d the cause (%.1f %%), %d both (%.1f %%)'
        % (
            len(rest), len(red), 100 * len(red) / max(1, len(rest)), len(named), sum(r[6] == 'yes' for r in named),
            100 * sum(r[6] == 'yes' for r in named) / max(1, len(named)), sum(r[7] == 'yes' for r in named),
            100 * sum(r[7] == 'yes' for r in named) / max(1, len(named)), sum(r[6] == r[7] == 'yes' for r in named),
            100 * sum(r[6] == r[7] == 'yes' for r in named) / max(1, len(named))
        )
    )
    for r in rest:
        if r[5] == 'green' or 'no' in r[6:8]:
            print('# %s: %s -> %s: %s, %s: %s' % (r[1], r[2], r[3], r[5], r[4], r[8][:400]))


main()
