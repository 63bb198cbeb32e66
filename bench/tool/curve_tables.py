# SPDX-License-Identifier: Apache-2.0
# The tables of doc/gate.md, of what bench/operating-curve.py wrote: how often `check` is red, in percent, of each
# change in each way that runs are held to a baseline.
from curve_setups import CHANGES, HELD_OUT

MODES = [
    ('paired', 3, 1),
    ('paired', 5, 1),
    ('paired', 10, 1),
    ('paired', 5, 5),
    ('unpaired', 5, 1),
    ('unpaired', 10, 1),
    ('unpaired', 5, 5),
    ('unpaired', 10, 5),
]
HEAD = 'setup change mode n k trials red runs'.split()


def within(rates):
    """From the least to the largest of them; a dash where there is none."""
    if not rates:
        return '–'
    low, high = min(rates), max(rates)
    return '%.1f' % high if high == low else '%.1f to %.1f' % (low, high)


def show(path, setups):
    """Prints the tables of the file of these set-ups."""
    rows = [dict(zip(HEAD, l.split('\t'))) for l in open(path).read().splitlines()[2:]]
    at = {
        (r['setup'], r['change'], r['mode'], int(r['n']), int(r['k'])): 100 * int(r['red']) / int(r['trials'])
        for r in rows
    }
    there = [s for s in setups if any(r['setup'] == s for r in rows)]
    names = ['%s%s' % (s, ', held out' if s in HELD_OUT else '') for s in there]
    print('| change, paired 5/1 | ' + ' | '.join(names) + ' |\n| --- |' + ' --- |' * len(names))
    for change in ['none'] + list(CHANGES):
        print(
            '| %s | %s |'
            % (
                change,
                ' | '.join(
                    '%.1f' % at[s, change, 'paired', 5, 1] if (s, change, 'paired', 5, 1) in at else '–'
                    for s in there
                ),
            )
        )
    modes = [m for m in MODES if ('float32', 'none') + m in at]
    print(
        '\n| change, all set-ups | ' + ' | '.join('%s %d/%d' % m for m in modes) + ' |\n| --- |' + ' --- |' * len(modes)
    )
    for change in ['none'] + list(CHANGES):
        cells = [[at[(s, change) + m] for s in there if (s, change) + m in at] for m in modes]
        print(
            '| %s | %s |'
            % (
                change,
                ' | '.join(within(c) for c in cells),
            )
        )
    quiet = [r for r in rows if r['change'] == 'none' and r['mode'] == 'paired' and r['n'] == '5' and r['k'] == '1']
    print(
        '\n%d distinct runs in which only the order of sums is another, %d trials paired 5/1: %d red.'
        % (sum(int(r['runs']) for r in quiet), sum(int(r['trials']) for r in quiet), sum(int(r['red']) for r in quiet))
    )
