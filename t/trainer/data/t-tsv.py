# SPDX-License-Identifier: Apache-2.0
"""The data set tsv: sentences become [CLS], BERT's word pieces, [SEP] and [PAD], with a vocabulary that is given or
made of the sentences to train on; both are computed again here. Labels are numbered, and wrong files are refused."""

import json
import os
import random
import re
import sys
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import finish, halfulp, home, none, ok  # noqa: E402
from tensorsfile import Tensors  # noqa: E402

folder = home()
rng = random.Random(3)
SPECIAL = ['[PAD]', '[UNK]', '[CLS]', '[SEP]']


def at(*names):
    return os.path.join(folder, *names)


def write(name, text):
    with open(at(name), 'w', newline='') as f:
        f.write(text)


def train(name, run, *more):
    words = '--model bert:layers=1,hidden=4,heads=1,inner=4 --steps 1 --quiet --trace steps=0'.split()
    return halfulp('train', *words, '--trace', 'input.*', '--data', 'tsv:' + at(name), *more, at(run))


def words(text):
    return re.findall(
        r'[!-/:-@\[-`{-~]|[^\x00-\x20\x7f!-/:-@\[-`{-~]+', ''.join(c.lower() if c < '\x7f' else c for c in text)
    )


def pieces(word, vocabulary):
    """The longest pieces from left to right, or [UNK]."""
    found, rest = [], word
    while rest and len(word.encode()) <= 100:
        n = next((n for n in range(len(rest), 0, -1) if ('##' if found else '') + rest[:n] in vocabulary), 0)
        if not n:
            return ['[UNK]']
        found.append(('##' if found else '') + rest[:n])
        rest = rest[n:]
    return found or ['[UNK]']


def made(texts):
    """The vocabulary of these texts, in order."""
    count = Counter(w for t in texts for w in words(t) if len(w.encode()) <= 100)
    letters = Counter()
    for w, n in count.items():
        for c in w:
            letters[c] += n
    order = lambda c: [w for w, _ in sorted(c.items(), key=lambda x: (-x[1], x[0].encode()))]
    v = SPECIAL + order(letters) + ['##' + c for c in order(letters)]
    return v + [w for w in order(count) if count[w] > 1 and w not in v]


def inputs(text, v, length):
    number = {p: i for i, p in reversed(list(enumerate(v)))}
    t = [number[p] for w in words(text) for p in pieces(w, number)][: length - 2]
    t = [number['[CLS]'], *t, number['[SEP]']]
    return tuple(t + [number['[PAD]']] * (length - len(t))), tuple([1] * len(t) + [0] * (length - len(t)))


SOME = 'The the film was great , a GREAT film! unwatchable… don\'t it\'s naïve 100% "so-so" über x'.split() + [
    'y' * 101,
    'z' * 100,
]
texts = [' '.join(rng.choice(SOME) for _ in range(rng.randrange(0, 14))) for _ in range(40)]
texts[3] = '\x01 tab-less  \x7f blanks   '
# Numbers by their size, then texts by their bytes, though some of these come before digits or are the same number
ORDER = ['09', '9', '10', '91', '95', '!x', '-', 'Yes', 'no', 'yes']
labels = [*ORDER, *(rng.choice(ORDER) for _ in texts[10:])]
rng.shuffle(labels)
write('plain', ''.join('%s\t%s\n' % x for x in zip(texts, labels)))
write(
    'named',
    'id\tLabel\tText\r\n' + ''.join('%d\t%s\t%s\r\n' % (i, y, x) for i, (x, y) in enumerate(zip(texts, labels))),
)
given = [
    '[CLS]', 'film', '[SEP]', '##m', 'un', '##watch', '##able', '[PAD]', 'gr', '##eat', 't', '##he', '!', '[UNK]', 'f',
    '##il'
]
write('vocab.txt', '\r\n'.join(given))
for name, split, length, vocabulary in (('plain', 30, 11, None), ('named', 36, 64, None), ('plain', 36, 12, given)):
    more = ['--data', 'word_pieces=' + at('vocab.txt')] if vocabulary else []
    run = 'run%d' % length
    got = train(
        name, run, '--data', 'split=' + str(split), '--data', 'length=' + str(length), '--batch', str(split), *more
    )
    if not ok(got.returncode == 0, 'sentences of %d tokens' % length, got.stderr):
        continue
    v = vocabulary or made(texts[:split])
    step = Tensors(at(run, 'trace', 'step-000000.safetensors'))
    cut = lambda key: [tuple(int(x) for x in step[key][i * length : (i + 1) * length]) for i in range(split)]
    rows = sorted(zip(cut('input.tokens'), cut('input.mask'), (int(y) for y in step['input.labels'])))
    want = sorted((*inputs(x, v, length), ORDER.index(y)) for x, y in zip(texts[:split], labels))
    none([x for x in zip(rows, want) if x[0] != x[1]], 'tokens, mask and labels are those of the sentences')
    ok(set(step['input.segments']) == {0.0}, 'all in the first segment')
    got = halfulp('verify', at(run))
    ok(got.returncode == 0, 'verify finds the run again', got.stdout + got.stderr)
# A vocabulary larger than its table is at first
many = [*SPECIAL, *('w%d' % (i * i) for i in range(3000))]
write('many.txt', '\n'.join(many))
texts = [' '.join(rng.choice(many[4:]) for _ in range(8)) for _ in range(40)]
write('large', ''.join('%s\t%d\n' % (x, i % 2) for i, x in enumerate(texts)))
got = train(
    'large', 'large.run', '--data', 'split=30,length=10', '--batch', '30', '--data', 'word_pieces=' + at('many.txt')
)
tokens = Tensors(at('large.run', 'trace', 'step-000000.safetensors'))['input.tokens'] if got.returncode == 0 else []
rows = sorted(tuple(int(x) for x in tokens[i * 10 : i * 10 + 10]) for i in range(30)) if tokens else []
ok(rows == sorted(inputs(x, many, 10)[0] for x in texts[:30]), 'words of a vocabulary of 3004 pieces', got.stderr)
TWO = 'good\t1\nbad\t0\nfine\t1\n'
for text, more, say in (
    ('', [], '0 sentences of 0 labels'),
    ('good\t1\nfine\t1\n', [], '2 sentences of 1 labels'),
    (TWO + 'worse', [], 'line 4 has no column 2, which is the label'),
    (TWO + 'worse\t', [], 'line 4 has no label'),
    ('label\tsentence\n1\tgood\n0\n', [], 'line 3 has no column 2, which is the sentence'),
    (TWO + 'a\0b\t1', [], 'is 0, so this is no text'),
    (''.join('x\t%d\n' % i for i in range(257)), [], 'line 257 has the 257th label'),
    (TWO, ['--data', 'word_pieces=' + at('twice')], 'twice: line 5: the piece'),
    (TWO, ['--data', 'word_pieces=' + at('bare')], 'bare: this vocabulary has no [CLS]'),
    (TWO, ['--data', 'word_pieces=' + at('nowhere')], 'nowhere'),
):
    write('bad', text)
    write('twice', '[PAD]\n[UNK]\n[CLS]\n[SEP]\n[PAD]\n')
    write('bare', '[PAD]\n[UNK]\n[SEP]\n')
    got = train('bad', 'refused', '--batch', '2', *more)
    passed = got.returncode == 3 and say in got.stderr and len(got.stderr.splitlines()) == 1
    ok(passed, 'refused in one line: ' + say, got.stderr)
write('bad', TWO)
got = train('bad', 'refused', '--batch', '2', '--data', 'length=2')
ok(got.returncode == 2 and '--data length=2' in got.stderr, 'two tokens: exit 2', got.stderr)
finish()
