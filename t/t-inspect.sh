#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# inspect: counts of small files written here, against counts known by hand.
. "${srcdir:-.}/t/tap.sh"
PYTHON=${PYTHON:-python3}
command -v "$PYTHON" >/dev/null 2>&1 || skip_all 'python3 writes the inputs and is absent'
run() { "$HALFULP" inspect "$@" >out 2>err </dev/null; code=$?; }

"$PYTHON" - <<'END'
import json, struct
def write(path, tensors, meta=None):
    head, body = {}, b''
    for name, dtype, shape, data in tensors:
        head[name] = {'dtype': dtype, 'shape': shape, 'data_offsets': [len(body), len(body) + len(data)]}
        body += data
    if meta: head['__metadata__'] = meta
    text = json.dumps(head).encode()
    text += b' ' * (-len(text) % 8)
    open(path, 'wb').write(struct.pack('<Q', len(text)) + text + body)
f32 = lambda *v: struct.pack('<%df' % len(v), *v)
# to fp16: 2^-26 and the tie 2^-25 vanish, 2^-24 and 1.5*2^-20 become subnormal without loss,
# 1.001*2^-20 loses bits, 70000 overflows, 0 stays, 1 stays
w = f32(2**-26, 2**-25, 2**-24, 1.5 * 2**-20, 1.001 * 2**-20, 70000.0, 0.0, 1.0)
write('w.safetensors', [('dense.w', 'F32', [2, 4], w), ('n', 'I64', [1], struct.pack('<q', 3))])
v = f32(1e-9, 1e-8, 4e-9, 2e-3)
write('m.safetensors', [('dense.w_v', 'F32', [4], v), ('dense.b', 'F32', [4], v), ('attention.w_v', 'F32', [4], f32(1e-9, -1e-8, 4e-9, 2e-3))])
write('t.safetensors', [('dense.y', 'F32', [2], f32(1, 2))], {'halfulp': 'trace'})
open('cut.safetensors', 'wb').write(open('w.safetensors', 'rb').read()[:-3])
def npy(path, descr, shape, data):
    text = ("{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)).encode()
    text += b' ' * (-(len(text) + 11) % 64) + b'\n'
    open(path, 'wb').write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(text)) + text + data)
npy('a.npy', '<f8', '(3,)', struct.pack('<3d', 1e-300, 448.0, 465.0))
END

cat >look.py <<'END'
import json, sys
rows = json.load(open('out'))
row = [r for r in rows if r['tensor'] == sys.argv[1] and r['to'] == sys.argv[2]]
sys.exit(0 if len(row) == 1 and all(str(row[0][k]) == v for k, v in (a.split('=') for a in sys.argv[3:])) else 1)
END
look() { "$PYTHON" look.py "$@"; }

run w.safetensors --json
test $code = 0 && look dense.w fp16 elements=8 nonzeros=7 became_zero=2 became_subnormal=3 ftz=5 lost_bits=3 overflow=1 amax=70000.0 verdict=overflow
test_is $? "fp16: four counts, the overflow and the largest magnitude"
look dense.w bf16 became_zero=0 became_subnormal=0 overflow=0 verdict=harmless
test_is $? "bf16: its range takes them all"
look dense.w e4m3 overflow=1 became_zero=5
test_is $? "e4m3: no infinity, and what is below 2^-10 vanishes"
run w.safetensors
test $code = 0 && grep -q 'weights only: activations not judged' out && grep -q '^1 tensors are not floating-point' out
test_is $? "says what it cannot judge: activations, and integers"
run m.safetensors --json
test $code = 0 && look dense.w_v fp16 became_zero=3 verdict=fatal && look dense.w_v bf16 verdict=harmless && look dense.b fp16 became_zero=3 verdict=harmless && look attention.w_v fp16 became_zero=3 verdict=harmless
test_is $? "second moments that vanish leave epsilon to divide: fatal, where the same numbers as weights are harmless"
run t.safetensors
test $code = 0 && ! grep -q 'weights only' out
test_is $? "a trace has activations"
run a.npy --to e4m3,fp64 --json
test $code = 0 && look array e4m3 elements=3 became_zero=1 overflow=1 && look array fp64 became_zero=0 overflow=0 cosine=1.0
test_is $? "npy: fp64's 1e-300 vanishes in e4m3, 465 overflows, 448 does not"
run cut.safetensors
test $code = 3 && test ! -s out && test "$(wc -l <err)" = 1
test_is $? "a file cut short: exit 3, one line"
run absent.safetensors
test $code = 3 && test "$(wc -l <err)" = 1
test_is $? "a file that is absent: exit 3, one line"
run w.safetensors --to fp17
test $code = 2 && grep -q "fp17" err
test_is $? "an unknown format: exit 2"
run
test $code = 2 && test "$(wc -l <err)" = 1
test_is $? "no file: exit 2"

finish
