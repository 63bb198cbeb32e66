#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# check by the rules that a user writes, on files of anyone's: each measure at its limit, wrong rules, and defaults.
import json
import math
import os
import sys

sys.path[1:1] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool')]
from file_measures import check, f32, refused, run, safetensors  # noqa: E402
from tap import finish, ok  # noqa: E402

safetensors('o.safetensors', {'w': f32(4, 2, 1), 'grad.a': f32(1, 1, 1), 'grad.b': f32(1, 1, 1),
    'ids': ('I64', [2], [3, 4])})
safetensors('n.safetensors', {'w': f32(4, 2, 1.5), 'grad.a': f32(1, 1, 1 + 2 ** -10),
    'grad.b': f32(1, 1, 1 + 2 ** -9), 'ids': ('I64', [2], [3, 4])})

# w: differ 1, abs .5, rel .125, l2 .5/sqrt(21), sqnr 20 log10(sqrt(21)/.5); in fp16 512 ulps, in e4m3 4
for bound, limit, more in (('differ', 1, 0), ('abs', .5, 0), ('rel', .125, 0), ('l2', .5 / math.sqrt(21), 0),
    ('ulps(fp16)', 512, 0), ('ulps(e4m3)', 4, 0), ('ulps', 2 ** 22, 0),
        ('sqnr', 20 * math.log10(math.sqrt(21) / .5), 1), ('cosine', 21.5 / math.sqrt(21 * 22.25), 1),
            ('nonfinite', 0, 0)):
    sign, tight = ('>=', limit * (1 + 1e-9)) if more else ('<=', limit * (1 - 1e-9))
    inside = check('w: %s %s %.17g' % (bound, sign, limit * (1 - 1e-12 if more else 1 + 1e-12)),
        'grad*, ids: ignore'.replace(' ids', 'ids'))
    ok(inside[0] == 0, 'a rule %s at what is measured holds' % bound, inside[2])
    if bound != 'nonfinite':
        outside = check('w: %s %s %.17g' % (bound, sign, tight), '*: ignore')
        ok(outside[0] == 1 and outside[1][0].startswith('not ok 1 - w: '
            + (bound if bound != 'ulps' else 'ulps(fp32)')), 'a rule %s beyond it does not' % bound, outside[2])
got = check('grad.a: exact', 'grad.*: ulps(fp16) <= 2', '*: rel <= 1')
ok(got[0] == 1 and got[1][0].startswith('not ok 1 - grad.a: 1 of 3 values differ') and got[1][1].startswith('ok')
    and 'grad.b: ulps(fp16) 2, which is <= 2' in got[2], 'the first rule that matches counts', got[2])
got = check('grad.*: ulps(fp16) <= 1', 'ids: exact', 'w: abs <= 1', 'nothing.*: exact')
ok(got[0] == 1 and got[1][0].startswith('not ok 1 - grad.b: ulps(fp16) 2, and not <= 1')
    and "no name came to the rule 'nothing.*: exact'" in got[2], 'a rule that no name came to is told', got[2])
got = check()
ok(got[0] == 1 and [l.split()[4 - l.startswith('ok')] for l in got[1]][:3] == ['w:', 'grad.b:', 'grad.a:']
    and got[1][3].startswith('ok 4 - ids: the same values'), 'without rules: the worst first', got[2])
# 1.9 and 1.1 times their bound, 0.5: the worse of the two stands first everywhere, though its name does not
open('worse.csv', 'w').write('step,aa,zz\n0,1.55,1.95\n')
open('as.csv', 'w').write('step,aa,zz\n0,1,1\n')
for form in ('tap', 'json', 'junit', 'markdown', 'text'):
    out = run('check', 'worse.csv', '--baseline', 'as.csv', '--rule', '*: abs <= 0.5', '--format', form)[1]
    ok(out.find('abs 0.95') >= 0 and 0 <= out.find('zz') < out.find('aa'), 'the worst first, as %s' % form, out)
out = run('check', 'worse.csv', '--baseline', 'as.csv', '--rule', '*: abs <= 0.5', '--format', 'text')[1]
ok(out.splitlines()[-1].startswith('worse.csv drifted: 2 of 2 names fail, worst: zz, abs '
                                   '0.95'), 'and in the last line', out)
open('rules.txt', 'w').write('# what may differ\n\nw: abs <= 0.5, rel <= 2^-3   # both\ngrad.*: sqnr >= 40\n')
ok(check(more=['--rule', '@rules.txt'])[0] == 0 and check('w: exact', more=['--rule', '@rules.txt'])[0] == 1,
    'a file of rules, behind those of --rule')
open('bad.txt', 'w').write('w: rel <= 1\n\nw rel <= 1\n')
refused(3, 'bad.txt, line 3: rule', 'a bad line of a file of rules', 'check', 'n.safetensors', '--baseline',
    'o.safetensors', '--rule', '@bad.txt')
for rule, why in (('w', 'needs a colon'), (': rel <= 1', 'no name before its colon'), ('w:', 'no condition'),
    ('w: rel <= 1,', 'no condition'), ('w: rel <= 1,,abs <= 1', 'no condition'),
        ('w: rol <= 1', "'rol' is no measure, did you mean rel"),
                  ('w: rel >= 1', 'rel <= is a bound'), ('w: cosine <= 1', 'cosine >= is a bound'),
                      ('w: rel < 1', 'write <='), ('w: rel <= inf', 'no finite number'),
                          ('w: rel <= nan', 'no finite number'), ('w: rel <= -1', 'never below 0'),
                  ('w: rel <= 1x', 'no finite number'), ('w: ulps(fp99) <= 1', 'is no format'),
                      ('w: ulps(fp16 <= 1', 'in parentheses'), ('w: abs(fp16) <= 1', 'abs has no format'),
                          ('w: cosine >= 2', 'between -1 and 1'), ('w: ignore, exact', 'no other condition'),
                  ('w: exact, rel <= 1', 'no other bound'), ('w: fine', 'neither a bound')):
    refused(2, why, "rule '%s'" % rule, 'check', 'n.safetensors', '--baseline', 'o.safetensors', '--rule', rule)

# Names, shapes, dtypes, what is not finite
safetensors('more.safetensors', {'w': f32(4, 2, 1), 'grad.a': f32(1, 1, 1), 'grad.b': f32(1, 1, 1),
    'ids': ('I64', [2], [3, 4]), 'extra': f32(1)})
got = check(new='more.safetensors')
ok(got[0] == 1 and got[1][0] == 'not ok 1 - extra: is new: the baseline does not have it', 'a name that is new', got[2])
got = check(new='o.safetensors', old='more.safetensors')
ok(got[0] == 1 and got[1][0] == 'not ok 1 - extra: is missing: the baseline has it', 'a name that is missing', got[2])
ok(check('ext*: optional, exact', new='more.safetensors')[0] == 0 == check('extra: ignore',
    new='more.safetensors')[0], 'both, where a rule says so')
shape = dict(w=('F32', [3, 1], f32(4, 2, 1)[2]))
safetensors('s1.safetensors', {'w': f32(4, 2, 1)})
safetensors('s2.safetensors', shape)
got = check('w: rel <= 1', old='s1.safetensors', new='s2.safetensors')
ok(got[0] == 1 and 'its shape was F32[3] and is F32[3,1]' in got[1][0], 'another shape', got[2])
safetensors('half.safetensors', {'w': ('F16', [3], [0x4400, 0x4000, 0x3c00])})
got = check(old='s1.safetensors', new='half.safetensors')
ok(got[0] == 1 and 'its dtype was F32 and is F16, and no rule says how much that may change' in got[1][0],
    'another dtype', got[2])
ok(check('w: rel <= 0', old='s1.safetensors', new='half.safetensors')[0] == 0
    and check('w: exact', old='s1.safetensors', new='half.safetensors')[0] == 1,
        'which a rule on its values allows, and exact does not')
nan, inf = math.nan, math.inf
safetensors('q1.safetensors', {'a': f32(nan, inf, -inf, 1), 'b': f32(1, 1)})
safetensors('q2.safetensors', {'a': f32(nan, inf, -inf, 1), 'b': f32(1, nan)})
got = check('*: cosine >= 0', old='q1.safetensors', new='q2.safetensors')
ok(got[0] == 1 and got[1][0].startswith('not ok 1 - b: 1 of 2 values are not finite')
    and got[1][1].startswith('ok 2 - a: the same values'), 'NaN is drift unless the baseline has it there', got[2])
for was, now, want in ((nan, 1, 1), (1, nan, 1), (inf, nan, 1), (nan, inf, 1), (inf, -inf, 1), (inf, 1, 1),
    (-inf, -inf, 0), (nan, nan, 0)):
    safetensors('p1.safetensors', {'a': f32(1, was)})
    safetensors('p2.safetensors', {'a': f32(1, now)})
    row = json.loads(run('diff', 'p1.safetensors', 'p2.safetensors', '--json')[1])['rows'][0]
    ok(row['nonfinite'] == row['differ'] == want and check('*: cosine >= 0', old='p1.safetensors',
        new='p2.safetensors')[0] == want, '%s that became %s' % (was, now), row)
places = [1.0] * 70000
for at in (40000, 10, 69999):
    places[at] = 3.0
safetensors('w1.safetensors', {'a': f32(*[1.0] * 70000)})
safetensors('w2.safetensors', {'a': f32(*places)})
ok(json.loads(run('diff', 'w1.safetensors', 'w2.safetensors', '--json')[1])['rows'][0]['worst'] == 10,
    'of equal differences the first is told')
ok(check('b: nonfinite <= 1', old='q1.safetensors', new='q2.safetensors')[0] == 0, 'or a rule allows it')
safetensors('t1.safetensors', {'x # TODO later': f32(1)})
safetensors('t2.safetensors', {'x # TODO later': f32(2)})
ok('not ok 1 - x \\# TODO later: ' in check(old='t1.safetensors', new='t2.safetensors')[2],
    'a name is no directive of TAP')

# Defaults, from their formula: one element moved by c ulps of the largest is within, all by 2c beyond
for dtype, p, c in (('F32', 24, 16), ('F64', 53, 16), ('F16', 11, 1), ('BF16', 8, 1), ('F8_E4M3', 4, 1)):
    one = {'F32': 0x3f800000, 'F64': 0x3ff0000000000000, 'F16': 0x3c00, 'BF16': 0x3f80, 'F8_E4M3': 0x38}[dtype]
    safetensors('d0.safetensors', {'x': (dtype, [100], [one] * 100)})
    for step, where, want in ((c, 100, 0), (c + 1, 100, 1), (4 * c if p > 4 else 2, 1, 0),
        (4 * c + 1 if p > 4 else 5, 1, 1)):
        safetensors('d1.safetensors', {'x': (dtype, [100], [one + step] * where + [one] * (100 - where))})
        got = check(old='d0.safetensors', new='d1.safetensors')
        ok(got[0] == want, '%s: %d elements moved by %d ulps are %s by default'
            % (dtype, where, step, 'beyond' if want else 'within'), got[2])
finish()
