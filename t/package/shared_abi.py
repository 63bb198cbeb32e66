# SPDX-License-Identifier: Apache-2.0
# What a program that was compiled with the headers of libhalfulp relies on, a line each: the prototype of every
# function, as gcc understands it, and the value of every constant.
import os
import re
import subprocess
import tempfile


def abi(cc, include, more=''):
    """The sorted lines. MORE is a declaration that stands behind the headers."""
    with tempfile.TemporaryDirectory() as at:
        source, out = at + '/x.c', at + '/x.aux'
        open(source, 'w').write('#include <halfulp/halfulp.h>\n%s\n' % more)
        flags = ['-std=c11', '-I' + include, source]
        subprocess.run(cc.split() + flags + ['-fsyntax-only', '-aux-info', out], check=True)
        lines = [re.sub(r'^/\*.*?\*/ extern ', '', x.strip()) for x in open(out) if 'halfulp_' in x]
        found = [x for x in lines if re.search(r'\bhalfulp_\w+ \(', x)]
        folder = include + '/halfulp/'
        headers = [folder + n for n in sorted(os.listdir(folder)) if n.endswith('.h')]
        text = ''.join(open(h, encoding='utf-8').read() for h in headers if not h.endswith('number.h'))
        names = sorted(set(re.findall(r'^\t(HALFULP_\w+) =|enum \{ (HALFULP_\w+) =', text, re.M)))
        names = [a or b for a, b in names]
        body = ''.join('printf("%s = %%d\\n", (int)%s);' % (n, n) for n in names)
        main = 'int main(void) { %s return 0; }\n' % body
        open(source, 'w').write('#include <halfulp/halfulp.h>\n#include <stdio.h>\n' + main)
        subprocess.run(cc.split() + flags + ['-o', at + '/x'], check=True)
        found += subprocess.run([at + '/x'], capture_output=True, text=True, check=True).stdout.splitlines()
    return sorted(set(found))


def exported(library):
    """The names that a shared library exports, without its version."""
    words = ['nm', '-D', '--defined-only', '--format=posix', library]
    out = subprocess.run(words, capture_output=True, text=True).stdout
    return sorted(re.sub(r'@.*', '', x.split()[0]) for x in out.splitlines() if x.split()[1] != 'A')
