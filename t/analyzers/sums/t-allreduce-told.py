#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# What allreduce prints for people, and under --table, is what it says under --json, whose figures t-allreduce.py
# computes again: the heading, every row, and up to how many ranks each order and format holds.
import json, math, os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap

os.chdir(tap.home())


def run(*words):
    r = tap.halfulp(*words)
    if r.returncode:
        tap.bail_out('%s: exit %d: %s' % (' '.join(words), r.returncode, r.stderr))
    return r.stdout


small = '--model mlp:width=0.03125 --data size=8,train=40,eval=8 --batch 8 --seed 4 --quiet'.split()
run('train', *small, '--steps', '2', '--trace', 'steps=0,1', 'two')
run('train', *small, '--steps', '1', '--trace', 'steps=0', 'one')
scaled = '--policy mixed_float16 --loss-scale dynamic:init=2^60'.split()
tap.halfulp('train', *small, *scaled, '--steps', '1', '--trace', 'steps=0', 'skipped')
real = lambda x: float('nan' if x is None else x)  # JSON writes what is not finite as text


def told(rows, records, divided):
    """The lines, from the rows of the JSON."""
    lines = [
        '%d recorded gradient%s of 606 elements, %d of them reduced; divided %s the sum'
        % (records, 's' * (records > 1), rows[0]['elements'], divided),
        'verdict  order     wire    scale  ranks    rel. L2      bound  underflowed    swamped  overflowed  loud ranks',
    ]
    series = {}
    for r in rows:
        lines.append(
            '%-7s  %-8s  %-6s  %5s  %5d  %9s  %9.4g  %11.4g  %9.4g  %10d  %10d'
            % (
                'broken' if r['broken'] else 'holds', r['order'], r['wire'], '2^%d' % (math.frexp(r['scale'])[1] - 1),
                r['ranks'], '-' if r['rel_l2'] is None else '%.4g' % real(r['rel_l2']), real(r['bound']),
                r['underflowed'], r['swamped'], r['overflowed'], r['loud_ranks']
            )
        )
        series.setdefault((r['order'], r['wire']), []).append(r)
    lines.append('')
    for (order, wire), some in series.items():
        first = next((r for r in some if r['broken']), None)
        before = some[some.index(first) - 1] if first and first is not some[0] else None
        why = first and ', by overflow' * (first['overflowed'] > 0)
        why = ', as gradients are not finite' if first and first['nonfinite'] else why
        lines.append(
            '%s, %s: %s'
            % (
                order,
                wire,
                (
                    'holds at %d ranks, breaks at %d%s' % (before['ranks'], first['ranks'], why)
                    if before
                    else 'breaks at %d ranks%s' % (first['ranks'], why)
                    if first
                    else 'holds up to %d ranks' % some[-1]['ranks']
                ),
            )
        )
    if any(r['order'] != 'ring' and r['ranks'] >= 2 * records for r in rows):
        these, those = ('gradients', 'them') if records > 1 else ('gradient', 'it')
        lines += ['', 'Ranks beyond the recorded %s repeat %s, and a tree doubles equal sums' % (these, those)]
        lines[-1] += ' without an error. Ranks with gradients of their own may lose '\
                     'more: --ranks from=normal draws them.'
        if records == 1:
            lines[-1] = lines[-1].replace(': ', ': with several files or traced steps ')
    return lines


seen = set()
for what, records, divided, line in (
    ('two records', 2, 'after', ('two', '--ranks', '2..48', '--all-reduce', 'ring,tree,hier:4')),
    (
        'one record, loud',
        1,
        'before',
        ('one', '--ranks', '4..32', '--all-reduce', 'divide=before,scale=2^24,wire=fp16,bf16'),
    ),
    (
        'formats that are too small',
        1,
        'after',
        ('one', '--ranks', '8..256', '--all-reduce', 'ring:wire=e4m3,fp16,scale=2^18', '--sample', '40'),
    ),
    (
        'errors that grow above a tolerance',
        2,
        'after',
        ('two', '--ranks', '3..50', '--all-reduce', 'wire=bf16,e5m2', '--sample', 'all'),
    ),
    (
        'gradients that are not finite',
        1,
        'after',
        ('skipped', '--ranks', '3..9', '--all-reduce', 'wire=fp16'),
    ),
    (
        'errors above a tolerance',
        2,
        'before and after',
        ('two', '--ranks', '16', '--all-reduce', 'divide=split,wire=bf16', '--tolerance', '1e-3'),
    ),
):
    rows = json.loads(run('allreduce', *line, '--json'))
    got, want = run('allreduce', *line).split('\n'), told(rows, records, divided) + ['']
    wrong = [(a, b) for a, b in zip(got, want) if a != b]
    tap.ok(
        not wrong and len(got) == len(want), '%s: %d lines as --json has them' % (what, len(want)),
        '%s, %d lines' % (wrong[:2], len(got))
    )
    seen |= (
        {w for l in want for w in (', by overflow', 'holds up', 'holds at', ': breaks at', 'not finite') if w in l}
        | {'loud' for r in rows if r['loud_ranks']}
        | {'by error' for r in rows if r['broken'] and not r['overflowed']}
    )
    table = [l.split('\t') for l in run('allreduce', *line, '--table').split('\n') if l and not l.startswith('#')]
    cells = lambda r: {k: r[k] if isinstance(r[k], str) else real(r[k]) for k in table[0]}
    wrong = [
        (c, r)
        for c, r in zip(table[1:], rows)
        for k, v in zip(table[0], c)
        if (v != '-' if r[k] is None else v != r[k] if isinstance(r[k], str) else float(v) != real(r[k]))
    ]
    tap.ok(
        not wrong and len(table) == len(rows) + 1 and set(table[0]) == set(rows[0]),
        '%s: so are the rows of --table' % what, '%s' % wrong[:1]
    )
tap.ok(
    len(seen) == 7,
    'some hold, some break by overflow, by gradients that are not finite or by their error, some ranks are loud', seen
)
tap.finish()
