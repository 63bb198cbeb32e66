# SPDX-License-Identifier: Apache-2.0
# For tests in Python with several ranks, as mpi.sh is for those in the shell: the program started by mpirun on this
# machine, however few cores it has, as root too; and what two runs must have in common, whoever computed them.
import os
import shutil
import subprocess

from tap import HALFULP, skip_all

OPEN_MPI = {
    'OMPI_ALLOW_RUN_AS_ROOT': '1',
    'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1',
    'OMPI_MCA_rmaps_base_oversubscribe': '1',
    'OMPI_MCA_mpi_yield_when_idle': '1',
    'OMPI_MCA_btl_vader_single_copy_mechanism': 'none',
    'OMPI_MCA_hwloc_base_binding_policy': 'none',
}
TIMED = ['ms', 'wait_ms', 'samples_per_s', 'joules', 'joules_per_sample', 'watts', 'utilisation']


def need_mpi():
    """Skips the whole test where this build or this machine has no MPI."""
    if not os.path.exists(os.path.join(os.path.dirname(HALFULP), 'halfulp-mpi.so')):
        skip_all('this build has no MPI')
    if not shutil.which('mpirun'):
        skip_all('there is no mpirun')
    p = ranks(1, '--version')
    if p.returncode:
        skip_all('mpirun starts nothing here: ' + p.stderr)


def ranks(n, *words, **how):
    """The program with these arguments on N ranks, run to its end: .returncode, .stdout and .stderr."""
    environment = dict(os.environ, **OPEN_MPI, **how.pop('env', {}))
    command = ['mpirun', '-n', str(n), HALFULP, *words]
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment, timeout=300, **how
    )


def said(p):
    """What the program itself wrote to standard error, without mpirun's own lines."""
    return [line for line in p.stderr.splitlines() if line.startswith('halfulp')]


def untimed(path):
    """A table without its notes and without the columns of times and energy."""
    rows = [line.rstrip('\n').split('\t') for line in open(path) if not line.startswith('#')]
    keep = [k for k, name in enumerate(rows[0]) if name not in TIMED]
    return [[row[k] for k in keep] for row in rows]


def differences(one, other):
    """Files of the runs in these folders that differ in more than times: tables, programs, traces, checkpoints."""
    wrong = []
    names = [name for name in os.listdir(one) if name.endswith('.tsv') and name != 'ranks.tsv']
    wrong += [name for name in names if untimed(os.path.join(one, name)) != untimed(os.path.join(other, name))]
    for at in 'program-train.json', 'program-eval.json', 'trace', 'checkpoint':
        path = os.path.join(one, at)
        files = [os.path.join(at, f) for f in os.listdir(path)] if os.path.isdir(path) else [at]
        for f in files:
            pair = [os.path.join(run, f) for run in (one, other)]
            if not os.path.exists(pair[1]) or open(pair[0], 'rb').read() != open(pair[1], 'rb').read():
                wrong.append(f)
    return wrong + ([] if 'metrics.tsv' in names else ['metrics.tsv is missing'])
