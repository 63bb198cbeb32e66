# SPDX-License-Identifier: Apache-2.0
# Promise: The same at up to 400 points of each kind in each command, every one where there are no more.
# As t-faults.py, at every allocation of the commands that ask for few, at thousands of the others', and at every call.
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import faults
import tap

faults.sweep_all(int(os.environ.get('FAULTS_MOST', '400')), more=True)
tap.finish()
