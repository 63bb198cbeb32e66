# SPDX-License-Identifier: Apache-2.0
# The Python packages, function by function, and what is changed in them. Tests that run the changed line judge it
# (reach.py), as of C.
import ast
import io
import os
import random
import tokenize

from .known import KNOWN
from .python_builder import PythonBuilder
from .sources import Sources

SWAPPED = {'==': '!=', '!=': '==', '<': '>=', '>=': '<', '>': '<=', '<=': '>', '+=': '-=', '-=': '+=', '|=': '&='}
BINARY = {'+': '-', '-': '+', '*': '+', '/': '*', '//': '*', '%': '//', '&': '|', '|': '&'}
WORDS = {'and': 'or', 'or': 'and', 'True': 'False', 'False': 'True', 'continue': 'pass'}


def spared(tree):
    """Lines that are words for people: what is raised or warned of, and what a text at a function's head says."""
    lines = set()
    for node in ast.walk(tree):
        called = isinstance(node, ast.Call) and getattr(node.func, 'attr', getattr(node.func, 'id', ''))
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, (ast.Raise, ast.Import, ast.ImportFrom)) or text or called in ('warn', 'print'):
            lines.update(range(node.lineno - 1, node.end_lineno))
    return lines


def functions(text):
    """Name of each function, those inside others being part of them, and the lines of its body."""
    found = []

    def walk(node, before):
        for child in getattr(node, 'body', []):
            if isinstance(child, ast.ClassDef):
                walk(child, before + child.name + '.')
            elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found.append((before + child.name, set(range(child.body[0].lineno - 1, child.end_lineno))))
    walk(ast.parse(text), '')
    return found


def changes(tokens):
    """What single tokens may become: (token, kind, replacement)."""
    loops, before = 0, None
    for k, t in enumerate(tokens):
        after = tokens[k + 1].string if k + 1 < len(tokens) else ''
        value = before is not None and (before.type in (tokenize.NAME, tokenize.NUMBER) or before.string in ')]')
        if t.type == tokenize.OP and t.string in SWAPPED:
            yield t, 'operator', SWAPPED[t.string]
        elif t.type == tokenize.OP and t.string in BINARY and value and before.string not in ('return', 'in', 'lambda'):
            yield t, 'operator', BINARY[t.string]
        elif t.type == tokenize.NUMBER and t.string.isdigit():
            yield t, 'number', str(int(t.string) + 1)
        elif t.type == tokenize.NAME:
            loops += t.string == 'for'
            if t.string in WORDS:
                yield t, 'operator', WORDS[t.string]
            elif t.string == 'not' and after != 'in':
                yield t, 'operator', ''
            elif t.string == 'is' and after != 'not':
                yield t, 'operator', 'is not'
            elif t.string == 'in' and before.string != 'not' and not loops:
                yield t, 'operator', 'not in'
            elif t.string == 'if' and after != 'not':
                yield t, 'operator', 'if not'
            loops -= t.string == 'in' and loops > 0
        if t.type not in (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT):
            before = t


def candidates(top, path, lines=None):
    """Mutations of PATH: (path, line, from, to, kind, replacement)."""
    text = open(os.path.join(top, path)).read()
    rows, left = text.split('\n'), spared(ast.parse(text))
    for t, kind, new in changes(list(tokenize.generate_tokens(io.StringIO(text).readline))):
        number, start, end = t.start[0] - 1, t.start[1], t.end[1]
        changed = rows[number][:start] + new + rows[number][end:]
        if (lines is None or number in lines) and number not in left and not any(
                path == file and part in changed for file, part, why in KNOWN):
            yield path, number, start, end, kind, new


class Python(Sources):
    builder = PythonBuilder

    def units(self):
        found = []
        for d, _, names in os.walk(os.path.join(self.top, 'python')):
            found += [os.path.relpath(os.path.join(d, f), self.top) for f in names if f.endswith('.py')]
        return sorted(f for f in found if f != 'python/wheel.py')    # which makes a package, and t-wheel looks at that

    def mutations(self, unit, each, seed):
        text = open(os.path.join(self.top, unit)).read()
        for name, lines in functions(text):
            some = list(candidates(self.top, unit, lines))
            random.Random('%d %s %s' % (seed, unit, name)).shuffle(some)
            yield name, some
