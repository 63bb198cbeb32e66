# SPDX-License-Identifier: Apache-2.0
# For tests in Python with several ranks, as mpi.sh is for those in the shell: the program started by mpirun on this
# machine, however few cores it has, as root too; and what two runs must have in common, whoever computed them.
import os
import shutil
import signal
import subprocess
import tempfile
import time

from tap import HALFULP, TOP, home, skip_all

OPEN_MPI = {
    'OMPI_ALLOW_RUN_AS_ROOT': '1',
    'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1',
    'OMPI_MCA_rmaps_base_oversubscribe': '1',
    'OMPI_MCA_mpi_yield_when_idle': '1',
    'OMPI_MCA_btl_vader_single_copy_mechanism': 'none',
    'OMPI_MCA_hwloc_base_binding_policy': 'none',
    'LSAN_OPTIONS': 'suppressions=' + os.path.join(TOP, 't/tool/mpi-leaks.txt') + ':print_suppressions=0',
    'ASAN_OPTIONS': (os.environ.get('ASAN_OPTIONS', '') + ':fast_unwind_on_malloc=0').lstrip(':'),
}
TIMED = ['ms', 'wait_ms', 'samples_per_s', 'joules', 'joules_per_sample', 'watts', 'utilisation']


MODULE = os.path.join(os.path.dirname(HALFULP), 'halfulp-mpi.so')
stub = None  # the stand-in's path where it is used


def use_stub():
    """Has ranks() start processes that the stand-in t/stub/ranks.c connects. Skips the whole test without a compiler."""
    global stub
    path = os.path.join(home(), 'stub.so')
    command = [*os.environ.get('CC', 'cc').split(), '-shared', '-fPIC', '-D_GNU_SOURCE', '-I' + TOP]
    p = subprocess.run([*command, '-o', path, os.path.join(TOP, 't/stub/ranks.c')], capture_output=True, text=True)
    if p.returncode:
        skip_all('there is no MPI, and its stand-in cannot be compiled: ' + p.stderr)
    stub = path


def need_mpi(or_stub=False):
    """Skips the whole test where this build or this machine has no MPI, unless the stand-in will do."""
    why = (
        'this build has no MPI'
        if not os.path.exists(MODULE)
        else '' if shutil.which('mpirun') else 'there is no mpirun'
    )
    if not why:
        p = ranks(1, '--version')
        why = 'mpirun starts nothing here: ' + p.stderr if p.returncode else ''
    if why and not or_stub:
        skip_all(why)
    if why:
        use_stub()


def by_stub(commands):
    """As mpirun would start them: the whole ends with the first exit code that is not 0, and so do the others."""
    where = tempfile.mkdtemp(dir=os.path.dirname(stub))
    jobs = []
    for k, words in enumerate(commands):
        own = {'OMPI_COMM_WORLD_SIZE': str(len(commands)), 'OMPI_COMM_WORLD_RANK': str(k)}
        environment = dict(os.environ, HALFULP_MPI=stub, STUB_RANKS=where, **own)
        streams = [tempfile.TemporaryFile('w+') for _ in range(2)]
        p = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=streams[0], stderr=streams[1], env=environment
        )
        jobs.append((p, streams))
    end = time.time() + 300
    while time.time() < end and None in [p.poll() for p, _ in jobs] and not any(p.returncode for p, _ in jobs):
        time.sleep(0.005)
    time.sleep(0.2 if any(p.returncode for p, _ in jobs) else 0)  # what gives up has told the others
    for p, _ in jobs:
        p.terminate()
    codes = [p.wait(timeout=300) for p, _ in jobs]
    texts = ['', '']
    for _, streams in jobs:
        for k in range(2):
            streams[k].seek(0)
            texts[k] += streams[k].read()
    return subprocess.CompletedProcess(commands[0], next((c for c in codes if c > 0), 0), *texts)


def apart(*lines):
    """Rank k runs line k, a program and its arguments, to the end of all: .returncode, .stdout and .stderr."""
    if stub:
        return by_stub(lines)
    command = ['mpirun']
    for k, line in enumerate(lines):
        command += [':'] * (k > 0) + ['-n', '1', *line]
    environment = dict(os.environ, **OPEN_MPI, HALFULP_MPI=MODULE)
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment, timeout=300
    )


def ranks(n, *words, last=()):
    """The program with these arguments on N ranks, the last of which gets those of LAST as well."""
    return apart(*[[HALFULP, *words]] * (n - 1), [HALFULP, *words, *last])


def of_version(version):
    """The path of a copy of the program that takes itself for another version, of as many letters."""
    path = os.path.join(home(), 'halfulp')
    own = subprocess.run([HALFULP, '--version'], capture_output=True, text=True).stdout.split()[1]
    with open(HALFULP, 'rb') as f:
        code = f.read()
    with open(path, 'wb') as f:
        f.write(code.replace(own.encode() + b'\0', version.encode() + b'\0'))
    os.chmod(path, 0o755)
    return path


def killed(command, moment, dice=None):
    """Starts the command, kills it after so many seconds, or one of the ranks that it started, drawn by DICE, and returns
    the exit code, what was said, and whether anyone was there to be killed."""
    job = subprocess.Popen(
        command,
        env=dict(os.environ, **(OPEN_MPI if dice else {})),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(moment)
    victims = [str(job.pid)]
    if dice:
        p = subprocess.run(['ps', '-o', 'pid=', '--ppid', str(job.pid)], capture_output=True, text=True)
        victims = p.stdout.split()
    hit = 0
    if victims and job.poll() is None:
        try:
            os.kill(int(dice.choice(victims) if dice else victims[0]), signal.SIGKILL)
            hit = 1
        except ProcessLookupError:
            pass
    _, err = job.communicate(timeout=300)
    return job.returncode, err, hit


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
    for name in names:
        pair = [os.path.join(run, name) for run in (one, other)]
        if not os.path.exists(pair[1]) or untimed(pair[0]) != untimed(pair[1]):
            wrong.append(name)
    for at in 'program-train.json', 'program-eval.json', 'trace', 'checkpoint':
        path = os.path.join(one, at)
        files = [os.path.join(at, f) for f in os.listdir(path)] if os.path.isdir(path) else [at]
        for f in files:
            pair = [os.path.join(run, f) for run in (one, other)]
            if not os.path.exists(pair[1]) or open(pair[0], 'rb').read() != open(pair[1], 'rb').read():
                wrong.append(f)
    return wrong + ([] if 'metrics.tsv' in names else ['metrics.tsv is missing'])
