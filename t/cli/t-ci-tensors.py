#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# action.yml and doc/ci/tensors.yml, read by PyYAML and run step by step as the services run them, on files and on a
# model
# of a user's own: green where these hold, red where they drift, with what the services read.
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as tree

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import tap

try:
    import yaml
except ImportError:
    tap.skip_all('PyYAML is absent (python3-yaml)')
action = yaml.safe_load(open(tap.TOP + '/action.yml', encoding='utf-8'))
component = list(yaml.safe_load_all(open(tap.TOP + '/doc/ci/tensors.yml', encoding='utf-8')))
home = tap.home()
data = tap.TOP + '/examples/digits'
made = tap.halfulp('validate', data + '.onnx', '--data', data + '.npz', '--policies', 'int8,int4', '--outputs',
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


def run(at, lines, env):
    """A step: bash -e -o pipefail, as both services have it."""
    env = dict({k: v for k, v in os.environ.items() if k != 'HALFULP_RESULTS'}, OMP_WAIT_POLICY='passive', **env)
    return subprocess.run(['bash', '-e', '-o', 'pipefail', '-c', lines], cwd=at, env=env, stdin=subprocess.DEVNULL,
        capture_output=True, text=True)


def filled(text, inputs):
    return re.sub(r'(?:\$\{\{|\$\[\[) inputs\.(\w+) (?:\}\}|\]\])', lambda m: inputs[m[1]], text)


def github(name, given):
    """Runs the steps of the action; returns the last one's result, and the summary."""
    at = folder('github-' + name)
    inputs = {k: given.get(k, v.get('default')) for k, v in action['inputs'].items()}
    env = {'GITHUB_ACTION_PATH': at + '/halfulp', 'GITHUB_STEP_SUMMARY': at + '/summary.md'}
    for step in action['runs']['steps']:
        if 'uses' not in step:
            p = run(at, step['run'], dict(env, **{k: filled(v, inputs) for k, v in step.get('env', {}).items()}))
    text = open(at + '/summary.md', encoding='utf-8').read() if os.path.exists(at + '/summary.md') else ''
    return at, p, text


def gitlab(name, given):
    at = folder('gitlab-' + name)
    inputs = {k: given.get(k, v.get('default', '')) for k, v in component[0]['spec']['inputs'].items()}
    job = component[1]['halfulp-tensors']
    env = {k: filled(v, inputs) for k, v in job['variables'].items()}
    return at, run(at, '\n'.join(job['before_script'] + job['script']), env), ''


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
