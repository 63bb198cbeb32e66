# SPDX-License-Identifier: Apache-2.0
# For tests that analyze one run in several ways: a small run, and what analyze wrote, to be compared byte for byte.
import glob
import os
import shutil

from tap import bail_out, halfulp

SMALL = ['--model', 'mlp', '--width', '0.03125', '--size', '8', '--train', '40', '--eval', '8', '--batch', '8', '--quiet']


def trained(run, *words):
    """Trains RUN, of which steps are traced as WORDS say; without a model among them, the small one."""
    p = halfulp('train', *([] if '--model' in words else SMALL), *words, run)
    if p.returncode:
        bail_out('train %s: exit %d: %s' % (' '.join(words), p.returncode, p.stderr.strip()))


def written(run, *patterns):
    names = glob.glob(run + '/analysis/*') + [f for p in patterns for f in glob.glob(p)]
    return [f for f in names if os.path.isfile(f)]


def tables(run, *patterns):
    """What RUN/analysis holds besides parts, and the files of these patterns, by name."""
    return {os.path.basename(f): open(f, 'rb').read() for f in written(run, *patterns)}


def forget(run, *patterns):
    """Removes all of that, and parts."""
    for f in written(run, *patterns):
        os.remove(f)
    shutil.rmtree(run + '/analysis', ignore_errors=True)
