# SPDX-License-Identifier: Apache-2.0
# The examples of doc/cluster.md that analyze and compare, run as far as one machine can: its lines as they stand, with
# mpirun where there is one, GNU parallel and Slurm's array as loops, and the command of Kubernetes' file for each
# index.
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from analyzed import forget, tables, trained  # noqa: E402
from mpi import MODULE, OPEN_MPI  # noqa: E402
from tap import HALFULP, TOP, finish, home, ok, skip  # noqa: E402

folder = home()
page = open(os.path.join(TOP, 'doc/cluster.md')).read()
section = page[page.index('## Analyzing') : page.index('## Comparing')]
os.makedirs(folder + '/tools')
os.symlink(HALFULP, folder + '/tools/halfulp')
environment = dict(os.environ, **OPEN_MPI, PATH=folder + '/tools:' + os.environ['PATH'], HALFULP_MPI=MODULE)
whole = folder + '/runs/whole'


def run(command, **more):
    return subprocess.run(command, cwd=folder, env=dict(environment, **more), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=300)


os.makedirs(folder + '/runs')
trained(whole, '--steps', '2', '--trace', 'steps=1', '--policy', 'mixed_float16')
run(['halfulp', 'analyze', 'runs/whole'])
want = tables(whole)
forget(whole)
lines = re.findall(r'^    (\S+ .*)$', section[: section.index('```')], re.M)
ok(len(lines) == 6 and len(want) > 8, 'the page has its six lines', lines)
codes = [run(line.split()).returncode for line in lines[:5]]
ok(codes == [0] * 5 and tables(whole) == want, 'shards and merge, as the page has them: the tables of one process',
   str(codes))
forget(whole)
if os.path.exists(MODULE) and shutil.which('mpirun'):
    p = run(lines[5].split())
    ok(p.returncode == 0 and tables(whole) == want, lines[5], p.stderr)
else:
    skip(lines[5], 'there is no MPI')

scripts = re.findall(r'```sh\n(.*?)```', section, re.S)
one, many = re.match(r'parallel (.*) ::: ([\d ]+) && (.*)\n$', scripts[0]).group(1, 2), scripts[0].split(' && ')[1]
forget(whole)
codes = [run(one[0].replace('{}', i).split()).returncode for i in one[1].split()] + [run(many.split()).returncode]
ok(not any(codes) and tables(whole) == want, "GNU parallel's shards, in a loop", str(codes))
forget(whole)
first, last = map(int, re.search(r'--array=(\d+)-(\d+)', scripts[1]).groups())
with open(folder + '/job.sh', 'w') as f:
    f.write(scripts[1])
codes = [run(['sh', 'job.sh'], SLURM_ARRAY_TASK_ID=str(i)).returncode for i in range(first, last + 1)]
codes.append(run(re.search(r"--wrap '(.*?)'", section).group(1).split()).returncode)
ok(not any(codes) and tables(whole) == want, "Slurm's array, in a loop", str(codes))
try:
    import yaml

    job = yaml.safe_load(re.search(r'```yaml\n(.*?)```', section, re.S).group(1))
    pod = job['spec']['template']['spec']
    forget(whole)
    codes = [run(pod['containers'][0]['command'], JOB_COMPLETION_INDEX=str(i)).returncode
             for i in range(job['spec']['completions'])]
    codes.append(run(many.split()).returncode)
    mounted = {m['name'] for c in pod['containers'] for m in c['volumeMounts']}
    ok(not any(codes) and tables(whole) == want and job['spec']['completionMode'] == 'Indexed' and mounted
       == {v['name'] for v in pod['volumes']}, "Kubernetes' indexed job, in a loop", str(codes))
except ImportError:
    skip("Kubernetes' indexed job", 'there is no PyYAML')

section = page[page.index('## Comparing') : page.index('## Training')]
for line in re.findall(r'^    (\S+ .*)$', section, re.M):
    if line.startswith('mpirun') and not (os.path.exists(MODULE) and shutil.which('mpirun')):
        skip(line, 'there is no MPI')
        continue
    p = run(line.split())
    ok(p.returncode == 0, line, p.stderr)
finish()
