# SPDX-License-Identifier: Apache-2.0
"""The training examples of doc/cluster.md, run as far as one machine can: the mpirun lines as they stand, Slurm's
script with an srun that is mpirun, the command of Kubernetes' file."""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from mpi import OPEN_MPI, differences, need_mpi  # noqa: E402
from tap import HALFULP, TOP, finish, home, ok, skip  # noqa: E402

need_mpi()
folder = home()
page = open(os.path.join(TOP, 'doc/cluster.md')).read()
section = page[page.index('## Training: ranks share') :]
tools = os.path.join(folder, 'tools')
os.makedirs(tools)
os.symlink(HALFULP, os.path.join(tools, 'halfulp'))
with open(os.path.join(tools, 'srun'), 'w') as f:
    f.write('#!/bin/sh\nshift\nexec mpirun -n 3 "$@"\n')
os.chmod(os.path.join(tools, 'srun'), 0o755)
environment = dict(os.environ, **OPEN_MPI, PATH=tools + ':' + os.environ['PATH'], SLURM_CPUS_PER_TASK='1')
environment['HALFULP_MPI'] = os.path.join(os.path.dirname(HALFULP), 'halfulp-mpi.so')


def run(command):
    return subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=300)


def at(name):
    return os.path.join(folder, 'runs', name)


lines = re.findall(r'^ {4,6}((?:mpirun|halfulp) .*)$', section[: section.index('### What an all-reduce')], re.M)
ok([line.split()[0] for line in lines] == ['mpirun', 'halfulp', 'halfulp', 'mpirun'], 'the page has its four lines',
   lines)
for line in lines[:3]:
    p = run(line.split())
    ok(p.returncode == 0, line, (p.stdout + p.stderr).splitlines()[-12:])
wrong = (differences(at('one'), at('two')) if os.path.isdir(at('one')) and os.path.isdir(at('two'))
         else ['a run is missing'])
ok(not wrong, 'both runs have the same tables, traces and checkpoints', wrong)
p = run(lines[3].split())
ok(p.returncode == 0 and 'all 6 steps are done already' in p.stdout, lines[3], p.stdout + p.stderr)

script = re.search(r'```sh\n(.*?)```', section, re.S).group(1)
with open(os.path.join(folder, 'job.sh'), 'w') as f:
    f.write(script)
p = run(['sh', 'job.sh'])
again = run(['sh', 'job.sh'])
ok(p.returncode == 0 and 'after 4 steps' in p.stdout, "Slurm's script, with mpirun for srun", p.stdout + p.stderr)
ok(again.returncode == 0 and 'done already' in again.stdout, 'and again, as a requeued job', again.stdout
   + again.stderr)

text = re.search(r'```yaml\n(.*?)```', section, re.S).group(1)
try:
    import yaml

    job = yaml.safe_load(text)
    specs = job['spec']['mpiReplicaSpecs']
    command = specs['Launcher']['template']['spec']['containers'][0]['command']
    named = {v['name'] for v in specs['Worker']['template']['spec']['volumes']}
    mounted = {m['name'] for c in specs['Worker']['template']['spec']['containers'] for m in c['volumeMounts']}
    ok(job['kind'] == 'MPIJob' and specs['Worker']['replicas'] == 2 and mounted == named, "Kubernetes' file is YAML",
       text)
    p = run(command)
    ok(p.returncode == 0 and os.path.exists(at('kubernetes/ranks.tsv')), 'its command', p.stderr)
except ImportError:
    skip("Kubernetes' file", 'there is no PyYAML')
finish()
