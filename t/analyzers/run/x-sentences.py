# SPDX-License-Identifier: Apache-2.0
# Each sentence of the verdict is refuted by its test: in a copy of the program a letter of it is another, and the test
# that sentences.tsv names is red.
#
#     x-sentences.py [WORDS...]     of the sentences that have these words alone
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
import sentences  # noqa: E402
from tap import HALFULP, finish, home, none, ok, skip  # noqa: E402

os.chdir(home())
code = open(HALFULP, 'rb').read()
seen, green, gone, unable = set(), [], [], []
for source, phrase, test in sentences.rows():
    if test == '-' or (phrase, test) in seen or sys.argv[1:] and not any(w in phrase for w in sys.argv[1:]):
        continue
    seen.add((phrase, test))
    at = max((k for k, c in enumerate(phrase) if c.islower()), key=lambda k: -abs(k - len(phrase) / 2))
    other = phrase[:at] + ('q' if phrase[at] != 'q' else 'z') + phrase[at + 1:]
    changed = code.replace(phrase.encode(), other.encode())
    if changed == code:
        gone.append(phrase)
        continue
    with open('halfulp', 'wb') as f:
        f.write(changed)
    os.chmod('halfulp', 0o755)
    runs = 't/golden/t-outputs.py' if test.startswith('t/golden/outputs/') else test
    ran = subprocess.run([sys.executable, os.path.join(sentences.TOP, runs)], capture_output=True, text=True,
                         env=dict(os.environ, HALFULP=os.path.abspath('halfulp')))
    if ran.stdout.startswith('1..0'):
        unable.append(test)
    elif ran.returncode == 0 and '\nnot ok' not in '\n' + ran.stdout:
        green.append('%s: %s' % (test, other))
    print('# %s: %s' % (test, phrase), flush=True)
none(gone, 'the program has each sentence')
none(green, 'each of %d sentences is refuted by its test' % len(seen))
if unable:
    skip('sentences of recordings', 'there is no PyTorch for ' + ' '.join(sorted(set(unable))))
ok(len(seen) > 60 or sys.argv[1:], '%d sentences' % len(seen))
finish()
