# SPDX-License-Identifier: Apache-2.0
# Promise: Some commands under some lasting failures do their work or say in one line why not.
# All habits that a C library may have are tried of train, which writes most files.
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get('srcdir', '.')), 't/tool'))
import lasting
import tap

lasting.sweep(['train'], ['habits'], 1, 1)
lasting.sweep(['calc text', 'check', 'diff npz', 'validate'], lasting.KINDS, 1, 2, some=3)
tap.finish()
