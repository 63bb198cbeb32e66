# SPDX-License-Identifier: Apache-2.0
# For tests in Python, as tap.sh is for those in the shell: TAP on standard output, the program that is tested, and a
# folder of the test's own, which is removed if everything passed. A test ends with finish().
import json
import os
import shutil
import subprocess
import sys
import tempfile

HALFULP = os.path.abspath(os.environ.get('HALFULP', './halfulp'))
TOP = os.path.abspath(os.environ.get('srcdir', '.'))
MOST = 12  # lines that say why something failed
made = failed = 0
folders = []


def ok(passed, text, why=''):
    """One test: whether PASSED is true. WHY, a text or a list of lines, is shown where it is not. Returns PASSED."""
    global made, failed
    made += 1
    failed += not passed
    print('%s %d - %s' % ('ok' if passed else 'not ok', made, text), flush=True)
    lines = [] if passed else why if isinstance(why, (list, tuple)) else str(why).splitlines()
    for line in [x for some in lines[:MOST] for x in str(some).splitlines()]:
        print('# ' + line, flush=True)
    return passed


def none(wrong, text):
    """One test: that the list WRONG is empty. What it holds is shown where it is not."""
    return ok(not wrong, text, list(wrong))


def told(*pieces):
    """One test: each of the pieces stands in the row of doc/papers.md that names this test."""
    name = '`%s`' % os.path.basename(sys.argv[0])
    with open(os.path.join(TOP, 'doc', 'papers.md'), encoding='utf-8') as f:
        rows = [line for line in f if line.startswith('|') and name in line]
    missing = [p for p in pieces if len(rows) != 1 or p not in rows[0]]
    ok(not missing, 'doc/papers.md tells: ' + '; '.join(pieces), missing + rows)


def skip(text, why):
    """One test that cannot be made here."""
    ok(True, '%s # SKIP %s' % (text, why))


def skip_all(why):
    """The whole test cannot be made here: call it before the first ok()."""
    print('1..0 # SKIP ' + why, flush=True)
    sys.exit(0)


def bail_out(why):
    """The tests cannot go on."""
    print('Bail out! ' + ' '.join(str(why).split()), flush=True)
    sys.exit(255)


def home():
    """Makes a folder of the test's own and returns its path; finish() removes it unless a test failed."""
    folders.append(tempfile.mkdtemp(prefix='halfulp-test-'))
    return folders[-1]


def halfulp(*words, **how):
    """The program with these arguments, run to its end: .returncode, and texts .stdout and .stderr."""
    return subprocess.run([HALFULP, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, **how)


NO_SHIM = 'this build has no launch shim: configure found no C++ compiler'


def has_shim():
    """Whether this build runs the kernels of a GPU on the host."""
    return 'shim' in json.loads(halfulp('doctor', '--json').stdout)['backends']


def finish():
    """Prints the plan, removes the test's folders if all passed, and ends the test with its status."""
    print('1..%d' % made, flush=True)
    os.chdir('/')
    for folder in folders:
        if failed:
            print('# files kept in ' + folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    sys.exit(failed > 0)
