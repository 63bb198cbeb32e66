# SPDX-License-Identifier: Apache-2.0
# Promise: Where an allocation of the program or of a library, or a system call, fails (or is short), a command ends
# with exit 4 and one line, leaves whole files and no temporary ones, and never ends well with another answer; killed
# anywhere and run again, it leaves what it leaves undisturbed.
# Allocations and system calls that fail, at points spread over each command: it ends with exit 4 and one line, leaves
# nothing but whole files, and never ends well with another result. t/base/x-faults.py tries every point.
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import faults
import tap

faults.sweep_all(int(os.environ.get('FAULTS_MOST', '3')))
tap.finish()
