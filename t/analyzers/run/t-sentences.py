# SPDX-License-Identifier: Apache-2.0
# Every sentence that a verdict can print stands in sentences.tsv with the test that composes it again from the tables.
# A sentence without a row, a row without a sentence, and a test that does not have the words fail.
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
import sentences  # noqa: E402
from tap import finish, none, ok  # noqa: E402

UNTESTED = 7                                     # rows that have no test; this number only goes down


def missing(source, text, rows):
    """The texts of a source that no row has."""
    phrases = [phrase for of, phrase, _ in rows if of == source]
    return ['%s: %r: write the test that is red where it is wrong, and its row in t/analyzers/run/sentences.tsv'
            % (source, t) for t in sentences.templates(text)
            if not any(phrase in part for phrase in phrases for part in sentences.fixed(t))]


texts = {path: open(os.path.join(sentences.TOP, path)).read() for path in sentences.sources()}
rows = sentences.rows()
ok(len(texts) > 5 and len(rows) > 80 and all(len(r) == 3 for r in rows), '%d sentences of %d sources' % (len(rows),
   len(texts)))
none([m for path, text in texts.items() for m in missing(path, text, rows)], 'each sentence has a row')
none(['%s: %r' % r[:2] for r in rows if not any(r[1] in p for t in sentences.templates(texts.get(r[0], ''))
      for p in sentences.fixed(t))], 'each row has a sentence')
held = {}
for _, _, test in rows:
    if test != '-' and test not in held:
        path = os.path.join(sentences.TOP, test)
        held[test] = sentences.flat(open(path).read()) if os.path.exists(path) else ''
none(['%s: %r' % (test, phrase) for _, phrase, test in rows if test != '-' and not any(
      p in held[test] for p in (phrase, phrase.replace('%', '%%')))], 'each test has its words')
ok(sum(test == '-' for _, _, test in rows) <= UNTESTED, 'no more than %d have no test' % UNTESTED)
added = 'hu_str_addf(s, " The %s of the moon turned %.0f bits over"\n\t" on the way.", what, n);'
ok(len(missing('some.c', texts[sorted(texts)[0]] + added, rows + [('some.c', p, t) for _, p, t in rows])) == 1,
   'a sentence that is added has none')
finish()
