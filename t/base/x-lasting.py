# SPDX-License-Identifier: Apache-2.0
# Promise: Under a limit, on a full file system, where calls go on failing or are short, and in surroundings that lack
# something, drawn for every command, it does its work or ends with exit 4 and one line, and leaves whole files; ended
# from outside by a signal, by the kernel for want of memory, or by a reader that is gone, it can be run again.
# ROUNDS says how many times what is drawn is tried of each command, SEED what is drawn, LASTING which kinds of
# t/base/lasting.py are tried, and COMMANDS of which commands.
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import fault_commands
import lasting
import tap

rounds, seed = int(os.environ.get('ROUNDS', '3')), int(os.environ.get('SEED', '1'))
kinds = os.environ.get('LASTING', ','.join(lasting.KINDS)).split(',')
names = [c for c in os.environ.get('COMMANDS', '').split(',') if c]
print('# %d rounds (ROUNDS), drawn by seed %d (SEED)' % (rounds, seed), flush=True)
lasting.sweep(names or [*fault_commands.COMMANDS, *fault_commands.MORE], kinds, rounds, seed)
tap.finish()
