# SPDX-License-Identifier: Apache-2.0
# action.yml and doc/ci/tensors.yml, read by PyYAML and run step by step as GitHub and GitLab run them: inputs are
# filled in, each step is bash -e -o pipefail in the user's folder.
import os
import re
import subprocess

import tap
import yaml

action = yaml.safe_load(open(tap.TOP + '/action.yml', encoding='utf-8'))
component = list(yaml.safe_load_all(open(tap.TOP + '/doc/ci/tensors.yml', encoding='utf-8')))


def step(at, lines, env):
    env = dict({k: v for k, v in os.environ.items() if k != 'HALFULP_RESULTS'}, OMP_WAIT_POLICY='passive', **env)
    return subprocess.run(['bash', '-e', '-o', 'pipefail', '-c', lines], cwd=at, env=env, stdin=subprocess.DEVNULL,
        capture_output=True, text=True)


def filled(text, inputs):
    """TEXT with the inputs in it; an input that was not declared is an error, as on the services."""
    return re.sub(r'(?:\$\{\{|\$\[\[) inputs\.(\w+) (?:\}\}|\]\])', lambda m: inputs[m[1]], text)


def github(at, given):
    """Runs the action's steps in AT, where halfulp/ is its own folder, up to one that fails. Returns the result of the
    last, and the job's summary."""
    assert not set(given) - set(action['inputs']), given
    inputs = {k: given.get(k, v.get('default')) for k, v in action['inputs'].items()}
    env = {'GITHUB_ACTION_PATH': at + '/halfulp', 'GITHUB_STEP_SUMMARY': at + '/summary.md'}
    for one in action['runs']['steps']:
        if 'uses' not in one:
            done = step(at, one['run'], dict(env, **{k: filled(v, inputs) for k, v in one.get('env', {}).items()}))
            if done.returncode:
                break
    text = open(at + '/summary.md', encoding='utf-8').read() if os.path.exists(at + '/summary.md') else ''
    return done, text


def gitlab(at, given):
    """Runs the component's job in AT; returns its result."""
    assert not set(given) - set(component[0]['spec']['inputs']), given
    inputs = {k: given.get(k, v.get('default', '')) for k, v in component[0]['spec']['inputs'].items()}
    job = component[1]['halfulp-tensors']
    env = {k: filled(v, inputs) for k, v in job['variables'].items()}
    return step(at, '\n'.join(job['before_script'] + job['script']), env)


def caches():
    """Where a cache of each service puts what it keeps, and under which name, as functions of the inputs."""
    use = next(s['with'] for s in action['runs']['steps'] if s.get('uses', '').startswith('actions/cache'))
    keep = component[1]['halfulp-tensors']['cache']
    return {'github': use['key'], 'gitlab': keep['key']}
