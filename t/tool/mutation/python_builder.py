# SPDX-License-Identifier: Apache-2.0
# How a changed module of Python is put in the place of the one in the sources, which stay as they are, and how the
# lines of the sources that a test runs are counted: each process of the test begins with a module of ours.
import marshal
import os

from .builder import Builder

# It counts the lines that it runs of files below `top`, or reads one module
# from another file.
SITE = '''import atexit, importlib.machinery, json, os, sys, threading
top, mutant, counts = (os.environ.get('HALFULP_MUTATION_' + k) for k in ('TOP', 'OTHER', 'LINES'))
seen, names = {}, {}
def line(frame, event, more):
    if event == 'line':
        seen[names[frame.f_code.co_filename]].add(frame.f_lineno)
    return line
def call(frame, event, more):
    file = frame.f_code.co_filename
    if file not in names:
        path = os.path.relpath(os.path.abspath(file), top)
        names[file] = path if path.startswith('python/') else ''
        seen.setdefault(path, set())
    return line if names[file] else None
def keep():
    sys.settrace(None)
    with open('%s/%d.lines' % (counts, os.getpid()), 'w') as f:
        json.dump({p: sorted(n) for p, n in seen.items() if n}, f)
if counts:
    threading.settrace(call)
    sys.settrace(call)
    atexit.register(keep)
elif mutant:
    changed, other = mutant.split(':')
    plain = importlib.machinery.SourceFileLoader.get_code
    def get_code(self, name):
        if os.path.abspath(self.path) == changed:
            return compile(open(other).read(), self.path, 'exec', dont_inherit=True)
        return plain(self, name)
    importlib.machinery.SourceFileLoader.get_code = get_code
'''


class PythonBuilder(Builder):
    """Mutants of Python, which nothing is compiled or linked for."""

    def __init__(self, top, build, worker=0):
        super().__init__(top, build, worker)
        site = os.path.join(self.dir, 'site')
        os.makedirs(site, exist_ok=True)
        with open(site + '/sitecustomize.py', 'w') as f:
            f.write(SITE)
        self.env.update(PYTHONPATH=site, HALFULP=os.path.join(build, 'halfulp'), HALFULP_MUTATION_TOP=top)
        self.env['PYTEST_ADDOPTS'] = '--assert=plain'     # pytest reads a plugin's modules by itself otherwise
        self.code = {}

    def compile(self, unit, mutation):
        change = self.write(mutation)
        self.env['HALFULP_MUTATION_OTHER'] = '%s:%s' % (os.path.join(self.top, unit), os.path.join(self.dir, unit))
        try:
            self.code = self.compiled(self.dir, unit)
        except SyntaxError as e:
            return 1, str(e), change
        return 0, '', change

    @staticmethod
    def compiled(folder, unit):
        return marshal.dumps(compile(open(os.path.join(folder, unit)).read(), unit, 'exec'))

    def same(self, unit, changed):
        return self.code == self.compiled(self.top, unit)

    def link(self, main, to):
        return 0, ''
