# SPDX-License-Identifier: Apache-2.0
# The sentences of the verdict, as the sources have them, and sentences.tsv, which says of each which test refutes it.
import os
import re

TOP = os.path.abspath(os.environ.get('srcdir', '.'))
LITERAL = r'"(?:[^"\\\n]|\\.)*"'
FIELD = r'%%|%[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|h|ll|l|z|j|t)?[a-zA-Z]'
WHERE = 'analyzers/run/summary', 'analyzers/run/nonfinite'


def sources():
    """The files that put the verdict together."""
    for folder in WHERE:
        for name in sorted(os.listdir(os.path.join(TOP, folder))):
            if name.endswith('.c'):
                text = open(os.path.join(TOP, folder, name)).read()
                if re.search(r'hu_str_add|^hu_\w+_words\(', text, re.M):
                    yield folder + '/' + name


def templates(text):
    """The texts of several words in a source, literals side by side being one."""
    text = re.sub(r'#include.*', '', re.sub(r'/\*.*?\*/', '', text, flags=re.S))
    found = (''.join(x[1:-1] for x in re.findall(LITERAL, m.group()))
             for m in re.finditer(r'(?:%s\s*)+' % LITERAL, text))
    found = (t.encode().decode('unicode_escape') for t in found)
    return [t for t in found if any(re.search(r'[A-Za-z]{2,}\W+[A-Za-z]{2,}', p.strip()[7:] and p) for p in fixed(t))]


def fixed(template):
    """The parts of a template between its fields."""
    return [p for p in re.split(FIELD, template) if p]


def flat(text):
    """A test's text with its literals joined, so that a sentence that goes over several lines is found; without its
    comments, which compose nothing."""
    text = re.sub(r'^\s*# .*\n', '', text, flags=re.M)
    text = re.sub(r'''(['"])\s*\n?\s*(?:\+\s*)?[fr]?(['"])''', lambda m: '' if m[1] == m[2] else m[0], text)
    return ' '.join(text.replace("\\'", "'").replace('\\n', ' ').split())


def rows():
    """(source, phrase, test) of sentences.tsv. Where the test is "-" a comment above the row says why; else it is found
    by its file's name, in whichever folder of t/ it stands."""
    lines = open(os.path.join(TOP, 't/analyzers/run/sentences.tsv')).read().splitlines()
    table = [line.split('\t') for line in lines if line and not line.startswith('#')]
    folder = {f: os.path.relpath(os.path.join(at, f), TOP) for at, _, fs in os.walk(os.path.join(TOP, 't')) for f in fs}
    return [(*row[:-1], folder.get(os.path.basename(row[-1]), row[-1])) for row in table]
