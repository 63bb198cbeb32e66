# SPDX-License-Identifier: Apache-2.0
# The line that each analyzer prints, from the tables that it sums up.
import math
import re

from .files import table


def number(x, digits):
    """As printf's %.Ng has it."""
    return 'nan' if x is None or math.isnan(x) else '%.*g' % (digits, x)


def real(text):
    return math.nan if text == '-' else float(text)


def harm(row, *columns):
    """Share and cosine; where there is neither, a sentence that says "is 0" stands for them."""
    x = [real(row[c]) for c, _ in columns]
    return ['0'] if all(map(math.isnan, x)) else [number(v, digits) for v, (_, digits) in zip(x, columns)]


def lines(run, expected):
    """By analyzer, the numbers of its line in their order."""
    rows = {name: table(run.analysis(name + '.tsv'))[1] for name in expected}
    said = {}
    ulps = [float(r['ulp_max']) for r in rows['replay']]
    if math.isfinite(max(ulps)):
        said['replay'] = [str(sum(int(r['sampled']) for r in rows['replay'])), number(max(ulps), 4), str(sum(int(r['over_bound']) for r in rows['replay']))]
    updates = [r for r in rows['swamping'] if r['kind'] == 'update' and r['tensor'] == 'all']
    if updates:  # else words stand for the numbers
        last = updates[-1]
        said['swamping'] = [str(sum(int(r['swamped']) for r in updates)), str(sum(int(r['additions']) for r in updates))] + harm(last, ('l2_share_lost', 3), ('cosine', 6))
    whole = [r for r in rows['state'] if r['tensor'] == 'all']
    moments, statistics = [r for r in whole if r['kind'] == 'moment'], [r for r in whole if r['kind'] == 'statistic']
    said['state'] = ([number(min(float(r['cosine']) for r in moments), 6)] if moments else []) + ([number(max(float(r['l2_share_lost']) for r in statistics), 3)] if statistics else [])
    gradients = [r for r in rows['underflow'] if r['tensor'] == 'all' and int(r['step']) == run.steps[-1]]
    said['underflow'] = [number(real(gradients[0]['share_nonzeros']), 3)] + harm(gradients[0], ('l2_share_lost', 3), ('cosine', 6)) if gradients else []
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
        said['accumulate-what-if'] = [number(float(x), 3) for x in (best['ulp_mean'], best['ulp_max'], worst['ulp_mean'], worst['ulp_max'])] + [number(100 * float(worst['share_swamped']), 2)]
    return said


def compare(run, text, expected):
    """Problems of what analyze printed."""
    wrong, there = [], {}
    for line in text.splitlines():
        m = re.match(r'([a-z-]+) +(.*?)  \(\d+\.\d s\)$', line)
        if m:
            there[m[1]] = m[2]
    for name, mine in lines(run, expected).items():
        words = re.sub(r'(least mean error: |most: )\S+', '', re.sub(r'\d+ elements? of [a-z ]* (is|are) not finite', '', there.get(name, 'no line')))  # a model's name has digits of its own
        found = re.findall(r'(?<![\w.^])(?:2\^-?\d+|-?\d+(?:\.\d+)?(?:e[-+]\d+)?|inf|nan)(?!\w)', words.replace('L2', ''))
        if found != mine:
            wrong.append('%s: %r there, %r here' % (name, there.get(name), mine))
    return wrong
