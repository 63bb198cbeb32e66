# SPDX-License-Identifier: Apache-2.0
# How much of a run was judged: the object "coverage" of summary.json, and whether that is enough for an all-clear.
import math
import os

from .files import table

NAN = math.nan


def number(text):
    return NAN if text == '-' else float(text)


class Tables:
    def __init__(self, run):
        self.run = run

    def __getitem__(self, name):
        path = self.run.analysis(name + '.tsv')
        return table(path)[1] if os.path.exists(path) else []


def real(row, column):
    x = number(row[column])
    return 0.0 if math.isnan(x) else x


def coverage(run):
    """The object "coverage", from its tables; the least seen step stands for the weights."""
    t = Tables(run)
    made = [
        os.path.exists(run.analysis(name + '.tsv')) for name in ('weights', 'coverage')
    ]  # one without the other says nothing
    steps, operators = t['coverage'] if all(made) else [], {}
    keys = (
        'step',
        'calls',
        'judged',
        'weights',
        'gradients_judged',
        'updates_judged',
        'elements',
        'gradient_elements_judged',
        'update_elements_judged',
        'l2_share_judged',
        'gradients',
        'kept',
        'choices',
        'otherwise',
        'reads',
        'apart',
    )
    cell = lambda text: None if text == '-' else float(text)  # noqa: E731
    each = [dict({k: cell(r[k]) for k in keys}, skipped=r['skipped'] == '1') for r in steps]
    for r in t['unjudged'] if all(made) else []:
        o = operators.setdefault(
            r['operator'], {'operator': r['operator'], 'calls': 0, 'tainting': 0, 'weights': 0, 'reason': r['reason']}
        )
        for k, how in (('calls', sum), ('tainting', sum), ('weights', max)):
            o[k] = how((o[k], int(r[k])))
    least = None
    for r in steps:
        if int(r['elements']) and (least is None or real(r, 'l2_share_judged') < share or missed(r) > missed(least)):
            share, least = min(real(r, 'l2_share_judged'), share if least else 1.0), r
    total = lambda c: sum(int(r[c]) for r in steps) if steps else None  # noqa: E731
    of = lambda c: (int(least[c]) if least else 0) if steps else None  # noqa: E731
    return {
        'calls': total('calls'), 'calls_judged': total('judged'), 'weights': of('weights'),
            'weights_judged': of('updates_judged'), 'elements': of('elements'),
        'gradient_elements_judged': of('gradient_elements_judged'),
            'update_elements_judged': of('update_elements_judged'), 'update_l2_share_judged': share if least else None,
        'weights_with_gradient': total('gradients'), 'weights_kept': total('kept'), 'choices': total('choices'),
            'choices_otherwise': total('otherwise'), 'reads': total('reads'), 'reads_apart': total('apart'),
        'steps_skipped': total('skipped'),
        'steps_without_update': sum(r['skipped'] == '0' and r['elements'] == '0' for r in steps) if steps else None,
        'not_judged': list(operators.values()), 'steps': each,
    }, total('silent_elements'), least and int(least['step'])  # fmt: skip


def missed(r):
    return int(r['elements']) - int(r['update_elements_judged'])


def enough(run):
    """Whether so much was seen that an all-clear may be given."""
    o, silent, _ = coverage(run)
    return (
        (o['update_l2_share_judged'] or 0) >= 0.99
        and o['steps_without_update'] == 0
        and silent == 0
        and not o['choices_otherwise']
        and not o['reads_apart']
        and not any(x['calls'] for x in o['not_judged'] if x['operator'] == 'what was not kept')
    )
