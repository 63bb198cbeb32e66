# SPDX-License-Identifier: Apache-2.0
# The line that each analyzer prints, from the tables that it sums up.
import math
import re

from .files import table
from .number import FORMATS


def number(x, digits):
    """As printf's %.Ng has it."""
    return 'nan' if x is None or math.isnan(x) else '%.*g' % (digits, x)


def real(text):
    return math.nan if text == '-' else float(text)


def harm(row, *columns):
    """Share and cosine; where there is neither, a sentence that says "is 0" stands for them."""
    x = [real(row[c]) for c, _ in columns]
    return ['0'] if all(map(math.isnan, x)) else [number(v, digits) for v, (_, digits) in zip(x, columns)]


def by_decay(updates):
    """How many of the swamped updates are weight decay alone; nothing where there are none."""
    n = sum(int(r['swamped_by_decay']) for r in updates)
    return [str(n)] if n else []


def lines(run, expected):
    """By analyzer, the numbers of its line in their order."""
    rows = {name: table(run.analysis(name + '.tsv'))[1] for name in expected}
    said = {}
    ulps = [float(r['ulp_max']) for r in rows['replay']]
    if math.isfinite(max(ulps)):
        worst = rows['replay'][ulps.index(max(ulps))]
        ratio, told = float(worst['bound_ratio_max']), max(ulps) <= 2.0 ** FORMATS[worst['format']][2]
        said['replay'] = [
            str(sum(int(r['sampled']) for r in rows['replay'])),
            *([number(ratio, 4)] if max(ulps) > 0 and ratio > 0 else []),
            *([number(max(ulps), 4)] if max(ulps) > 0 and told else []),
            str(sum(int(r['over_bound']) for r in rows['replay'])),
        ]
    updates = [r for r in rows['swamping'] if r['kind'] == 'update' and r['tensor'] == 'all']
    if updates:  # else words stand for the numbers
        last = updates[-1]
        said['swamping'] = (
            [str(sum(int(r['swamped']) for r in updates)), str(sum(int(r['additions']) for r in updates))]
            + by_decay(updates)
            + harm(last, ('l2_share_lost', 3), ('cosine', 6))
        )
    whole = [r for r in rows['state'] if r['tensor'] == 'all']
    moments, statistics = [r for r in whole if r['kind'] == 'moment'], [r for r in whole if r['kind'] == 'statistic']
    said['state'] = ([number(min(float(r['cosine']) for r in moments), 6)] if moments else []) + (
        [number(max(float(r['l2_share_lost']) for r in statistics), 3)] if statistics else []
    )
    gradients = [r for r in rows['underflow'] if r['tensor'] == 'all' and int(r['step']) == run.steps[-1]]
    said['underflow'] = (
        [number(real(gradients[0]['share_nonzeros']), 3)] + harm(gradients[0], ('l2_share_lost', 3), ('cosine', 6))
        if gradients
        else []
    )
    safe = [r for r in rows['loss-scale-safe'] if r['tensor'] != 'all']
    if safe and all(r['log2_scale_min'] != '-' for r in safe):
        low, high = max(int(r['log2_scale_min']) for r in safe), min(int(r['log2_scale_max']) for r in safe)
        said['loss-scale'] = ['2^%d' % low, '2^%d' % (high if low <= high else high + 1)]
    elif not safe:
        said['loss-scale'] = []
    totals = rows.get('accumulate-what-if-total')
    if totals:
        mean = lambda r: float(r['ulp_mean'])  # noqa: E731
        best, worst = min(totals, key=mean), max(totals, key=mean)
        said['accumulate-what-if'] = [
            number(float(x), 3) for x in (best['ulp_mean'], best['ulp_max'], worst['ulp_mean'], worst['ulp_max'])
        ] + [number(100 * float(worst['share_swamped']), 2)]
    return said


def compare(run, text, expected):
    """Problems of what analyze printed."""
    wrong, there = [], {}
    for line in text.splitlines():
        m = re.match(r'([a-z-]+) +(.*?)  \(\d+\.\d s\)$', line)
        if m:
            there[m[1]] = m[2]
    for name, mine in lines(run, expected).items():
        words = re.sub(
            r'(least mean error: |most: )\S+',
            '',
            re.sub(r'\d+ elements? of [a-z ]* (is|are) not finite', '', there.get(name, 'no line')),
        )  # a model's name has digits of its own
        found = re.findall(
            r'(?<![\w.^])(?:2\^-?\d+|-?\d+(?:\.\d+)?(?:e[-+]\d+)?|inf|nan)(?!\w)', words.replace('L2', '')
        )
        if found != mine:
            wrong.append('%s: %r there, %r here' % (name, there.get(name), mine))
    return wrong


def notes(run, steps):
    """Problems of the counts in replay.tsv's head, beside its rows. STEPS: how many the exact step was made of, 0 where there is none."""
    head = '\n'.join(x for x in open(run.analysis('replay.tsv')) if x.startswith('#'))
    rows, wrong = table(run.analysis('replay.tsv'))[1], []
    judged = sum(int(r['sampled']) for r in rows)
    parts = []
    m = re.search(
        r'# methods: (\d+) values: (\d+) exact in two doubles, (\d+) certified by their error bound, '
        r'(\d+) by the reference',
        head,
    )
    if m:
        total, *parts = map(int, m.groups())
        if total != sum(parts) or total != judged:
            wrong.append('methods: %d values, %s, of %d judged' % (total, parts, judged))
    m = re.search(r'# judged again: (\d+) values, .*, (\d+) disagreed', head)
    if (
        m and parts and ((int(m[1]) > 0) != (parts[0] + parts[1] > 0) or int(m[1]) > judged or m[2] != '0')
    ):  # of what enclosures decided
        wrong.append('judged again: %s of %d, %s disagreed' % (m[1], judged, m[2]))
    m = re.search(
        r'# exact step: (\d+) tensors of (\d+) steps; .*; (\d+) values are 0 as far .*; (\d+) steps by MPFR whole, (\d+) of them at two precisions, which gave (\d+) tensors their figures and left (\d+) without, '
        r'on which they disagree; (\d+) values of double-double calls judged by MPFR, (\d+) outside',
        head,
    )
    if bool(m) != bool(steps):
        wrong.append('exact step: %s, of %d steps' % (m, steps))
    elif m:
        tensors, of, vanished, whole, twice, gave, left, some, outside = map(int, m.groups())
        told = sum(r['propagated_ulp_max'] != '-' for r in rows)
        if (
            tensors != told
            or of != steps
            or not twice <= whole <= of
            or gave > tensors
            or outside
            or not whole
            and (gave or left)
        ):
            wrong.append('exact step: %s, where %d rows have figures of %d steps' % (m[0], told, steps))
    return wrong
