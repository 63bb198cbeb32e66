#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# action.yml and doc/ci/tensors.yml, run step by step as the services run them, on files and on a model of a user's own:
# green where these hold, red where they drift, with what the services read.
import json
import os
import sys
import xml.etree.ElementTree as tree

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap

try:
    import services
except ImportError:
    tap.skip_all('PyYAML is absent (python3-yaml)')
home = tap.home()
data = tap.TOP + '/examples/digits'
made = tap.halfulp('validate', data + '.onnx', '--data', data + '.npz', '--policy', 'int8,int4', '--outputs',
    home + '/out')
tap.ok(made.returncode == 0, 'outputs to gate', made.stderr)


def folder(name):
    """A checkout: the user's files, and halfulp, which is built where it is cloned."""
    at = '%s/%s' % (home, name)
    os.makedirs(at + '/halfulp/doc')
    os.symlink(tap.TOP + '/doc/ci', at + '/halfulp/doc/ci')
    with open(at + '/halfulp/bootstrap', 'w') as f:
        f.write('#!/bin/sh\nset -e\necho "$*" >"${0%%/*}/built"\nmkdir "${0%%/*}/build"\nln -s %s '
            '"${0%%/*}/build/halfulp"\n'
                % tap.HALFULP)
    os.chmod(at + '/halfulp/bootstrap', 0o755)
    for name in ('float32', 'int8', 'int4'):
        os.symlink('%s/out/%s.npz' % (home, name), '%s/%s.npz' % (at, name))
    for end in ('onnx', 'npz'):
        os.symlink('%s.%s' % (data, end), '%s/digits.%s' % (at, end))
    return at


def github(name, given):
    at = folder('github-' + name)
    return at, *services.github(at, given)


def gitlab(name, given):
    at = folder('gitlab-' + name)
    return at, services.gitlab(at, given), ''


rule = {'baseline': 'float32.npz', 'rules': 'none.*: exact\nscores: sqnr >= 30'}
model = {'model': 'digits.onnx', 'data': 'digits.npz', 'accept': 'flips<=1%'}
for service in (github, gitlab):
    who = service.__name__
    for given, code in ((dict(rule, new='int8.npz'), 0), (dict(rule, new='int4.npz'), 1)):
        at, p, summary = service('file-%d' % code, given)
        tap.ok(p.returncode == code, '%s: %s exits with %d' % (who, given['new'], code), p.stdout + p.stderr)
        suite = tree.parse(at + '/halfulp-junit.xml').getroot()
        quality = json.load(open(at + '/halfulp-quality.json', encoding='utf-8'))
        tap.ok(int(suite.get('failures')) == code and bool(quality) == bool(code), '%s: the documents say so' % who,
            quality)
        tap.ok(open(at + '/halfulp/built').read().strip() == '--with-cuda=no',
            '%s: it was built where it was not' % who)
        if service is github:
            tap.ok(('::error title=scores::' in p.stdout) == bool(code), 'github: annotations', p.stdout)
            tap.ok(('❌' in summary) == bool(code) and summary, 'github: the summary', summary)
        else:
            last = p.stdout.rstrip().splitlines()[-1]
            tap.ok(last.startswith('%s %s' % (given['new'], 'drifted' if code else 'holds')),
                'gitlab: the log ends so', last)
    for policies, code in (('fp16,int8', 0), ('int4', 1)):
        at, p, summary = service('model-%d' % code, dict(model, policies=policies))
        tap.ok(p.returncode == code and 'verdict' in p.stdout, '%s: a model in %s' % (who, policies),
            p.stdout + p.stderr)
        tap.ok(service is gitlab or 'digits.onnx' in summary, '%s: its table is told' % who, summary)
    at, p, summary = service('nothing', {})
    tap.ok(p.returncode == 2 and 'nothing to gate' in p.stderr, '%s: no input is one line' % who, p.stderr)
    at, p, summary = service('lost', dict(rule, new='lost.npz'))
    tap.ok(p.returncode > 1 and 'lost.npz' in p.stderr, '%s: a file that is not there is no drift' % who, p.stderr)
tap.finish()
