#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# inspect: counts of small files written here, against counts known by hand.
. "${srcdir:-.}/t/tool/tap.sh"
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
write('m.safetensors', [('dense.w_v', 'F32', [4], v), ('dense.b', 'F32', [4], v),
	('attention.w_v', 'F32', [4], f32(1e-9, -1e-8, 4e-9, 2e-3))])
write('t.safetensors', [('dense.y', 'F32', [2], f32(1, 2))], {'halfulp': 'trace'})
open('cut.safetensors', 'wb').write(open('w.safetensors', 'rb').read()[:-3])
def npy(path, descr, shape, data):
    text = ("{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)).encode()
    text += b' ' * (-(len(text) + 11) % 64) + b'\n'
    open(path, 'wb').write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(text)) + text + data)
npy('a.npy', '<f8', '(3,)', struct.pack('<3d', 1e-300, 448.0, 465.0))
# to mxfp4x4, two blocks a row: 7 saturates under scale 1, 0.1 vanishes and 0.5 is its subnormal; 100 = 6.25 * 16
# rounds; 1e-5 vanishes under 2^-12; 3 = 6 * 2^-1
npy('b.npy', '<f4', '(2, 5)', f32(7, 1, 0.1, 0.5, 100, 0.001, 0.0005, 1e-5, 0, 3))
npy('nan.npy', '<f4', '(2, 5)', f32(1, 1, float('nan'), 1, 1, 1, 1, 1, 1, 1))
npy('i.npy', '<f4', '(7,)', f32(127, -3.5, 0.5, 0.6, -0.4, 0, 100.5))
import random
random.seed(3)
values = [random.gauss(0, 1) * 10 ** random.uniform(-3, 0) for _ in range(3 * 37)]
npy('r.npy', '<f4', '(3, 37)', f32(*values))
npy('flat.npy', '<f4', '(111,)', f32(*values))
npy('long.npy', '<f4', '(2, 33000)', f32(*(random.gauss(0, 1) * 10 ** random.uniform(-4, 1) for _ in range(66000))))
END

cat >look.py <<'END'
import json, sys
rows = json.load(open('out'))
row = [r for r in rows if r['tensor'] == sys.argv[1] and r['to'] == sys.argv[2]]
sys.exit(0 if len(row) == 1 and all(str(row[0][k]) == v for k, v in (a.split('=') for a in sys.argv[3:])) else 1)
END
look() { "$PYTHON" look.py "$@"; }

run w.safetensors --json
test $code = 0 && look dense.w fp16 elements=8 nonzeros=7 became_zero=2 became_subnormal=3 ftz=5 lost_bits=3 \
	overflow=1 saturated=0 amax=70000.0 nonfinite=0
test_is $? "fp16: four counts, the overflow and the largest magnitude"
look dense.w bf16 became_zero=0 became_subnormal=0 overflow=0 max_error_at=5 max_error=144.0
test_is $? "bf16: its range takes them all"
look dense.w e4m3 overflow=1 became_zero=5
test_is $? "e4m3: no infinity, and what is below 2^-10 vanishes"
run w.safetensors
test $code = 0 && grep -q 'weights only: activations not judged' out &&
	grep -q '^1 tensor holds no floating-point numbers' out
test_is $? "says what it cannot judge: activations, and integers"
run m.safetensors --json
steps() { "$PYTHON" -c 'import json, sys; r, = [r for r in json.load(open("out")) if (r["tensor"], r["to"]) == '\
'(sys.argv[1], sys.argv[2])]; sys.exit(not eval(sys.argv[3], r))' "$@"; }
test $code = 0 && look dense.w_v fp16 became_zero=3 && steps dense.w_v fp16 'step_rel_l2 > 1000 and rel_l2 < 1e-3' &&
	steps dense.w_v bf16 'step_rel_l2 < 0.01' && look dense.b fp16 became_zero=3 step_rel_l2=None &&
	look attention.w_v fp16 became_zero=3 step_rel_l2=None
test_is $? "second moments that vanish leave epsilon to divide: the steps are thousands off, where the numbers "\
"themselves lose nothing of note"
run t.safetensors
test $code = 0 && ! grep -q 'weights only' out
test_is $? "a trace has activations"
run a.npy --to e4m3,fp64 --json
test $code = 0 && look array e4m3 elements=3 became_zero=1 overflow=1 &&
	look array fp64 became_zero=0 overflow=0 cosine=1.0
test_is $? "npy: fp64's 1e-300 vanishes in e4m3, 465 overflows, 448 does not"
run b.npy --to mxfp4x4,int4x5 --json
test $code = 0 && look array mxfp4x4 elements=10 nonzeros=9 became_zero=2 became_subnormal=1 lost_bits=2 ftz=None \
	overflow=0 saturated=1
test_is $? "mxfp4x4: blocks end with the rows; zeros, subnormal elements and saturation counted under their scales"
look array int4x5 became_subnormal=None lost_bits=None ftz=None saturated=0
test_is $? "integers have no subnormals"
run b.npy --to fp16,mxfp4x4
test $code = 0 && test "$(awk '$1 == "array" { print $3, $7, $8, $9, $10, $11, $12 }' out | tr '\n' ';')" = \
	'fp16 0 1 1 1 0 0;mxfp4x4 2 1 2 - 0 1;'
test_is $? "the table has - where a column does not apply"
run i.npy --to int8 --json
test $code = 0 && look array int8 became_zero=2 saturated=0 amax=127.0
test_is $? "int8: one scale a tensor, here 1, and ties go to even"
run nan.npy --to mxfp4x4,nvfp4x4,int8,e4m3 --json
test $code = 0 && look array mxfp4x4 overflow=3 nonfinite=1 && look array nvfp4x4 overflow=3 nonfinite=1 &&
	look array int8 overflow=9 rel_l2=None && look array e4m3 overflow=0 saturated=0 nonfinite=1
test_is $? "a NaN takes its block with it, in int8 the tensor"
run m.safetensors --to mxfp8 --json
test $code = 0 && look dense.w_v mxfp8 became_zero=2 && steps dense.w_v mxfp8 'step_rel_l2 > 1000' &&
	look dense.b mxfp8 became_zero=2 step_rel_l2=None
test_is $? "mxfp8: second moments far below their block's largest vanish"
# Rows of three tasks, which blocks do not divide
to=fp16,e2m1,fp64,mxfp8,nvfp4x7,int8zp,bfp5x100s3
for how in 1.auto 3.auto 2.scalar; do
	HALFULP_SIMD=${how#*.} "$HALFULP" inspect long.npy --threads ${how%.*} --to $to --json >by-$how
done
test -s by-1.auto && cmp -s by-1.auto by-3.auto && cmp -s by-1.auto by-2.scalar
test_is $? "any number of threads and any instruction set gives the same numbers"

# The same array by rows through round, whose values have an oracle of their own
cat >by-round.py <<'END'
import json, math, struct, subprocess, sys
path, name, row = sys.argv[2], sys.argv[3], int(sys.argv[4])
data = struct.unpack('<111f', open(path, 'rb').read()[-444:])
run = lambda *a, **k: json.loads(
	subprocess.run([sys.argv[1], *a], capture_output=True, text=True, check=True, **k).stdout)
got = []
for at in range(0, 111, row):
	got += run('round', '--format', name, '--json', '-', input='\n'.join(map(repr, data[at:at + row])))
count = lambda flag: sum(flag in r['flags'] for r in got)
cosine = math.fsum(x * r['value'] for x, r in zip(data, got)) / math.sqrt(
	math.fsum(x * x for x in data) * math.fsum(r['value'] ** 2 for r in got))
r, = run('inspect', path, '--to', name, '--json')
want = {'became_zero': count('underflow'), 'saturated': count('overflow'), 'elements': 111, 'to': name}
change = [abs(r['value'] - x) for x, r in zip(data, got)]
norm = math.sqrt(math.fsum(x * x for x in data))
near = {'cosine': cosine, 'rel_l2': math.sqrt(math.fsum(e * e for e in change)) / norm, 'max_error': max(change),
        'mean_error': math.fsum(change) / 111,
        'l2_share_lost': math.sqrt(math.fsum(x * x for x, r in zip(data, got) if r['value'] == 0)) / norm}
want['max_error_at'] = change.index(max(change))
assert len(got) == 111 and all(r[k] == want[k] for k in want) and all(
	abs(r[k] - v) <= 1e-13 * v for k, v in near.items()), (r, want, near)
END
for f in r:mxfp8:37 r:mxfp6e2m3:37 r:mxfp4:37 r:mxint8:37 r:bfp8x16s5:37 r:int4x8:37 r:int4zpx8:37 flat:nvfp4:111 \
	flat:int8:111 flat:int4zp:111; do
	IFS=: read -r file name row <<<"$f"
	"$PYTHON" by-round.py "$HALFULP" $file.npy $name $row >out 2>err
	test_is $? "$name: every sum, the largest error and where it is, of what round makes of each row"
done

run cut.safetensors
test $code = 3 && test ! -s out && test "$(wc -l <err)" = 1
test_is $? "a file cut short: exit 3, one line"
run absent.safetensors
test $code = 3 && test "$(wc -l <err)" = 1
test_is $? "a file that is absent: exit 3, one line"
run w.safetensors --to fp17
test $code = 2 && grep -q "fp17" err
test_is $? "an unknown format: exit 2"
for c in "inspect x.safetensors --to" "round 1 --format" "calc 1 --format"; do
	"$HALFULP" $c mxfp9 >out 2>err
	code=$?
	test $code = 2 && grep -q 'did you mean mxfp4' err &&
		test "$(grep -oE 'mxfp8e4m3|mxfp8e5m2|mxfp6e3m2|mxfp6e2m3|mxfp4|mxint8|nvfp4|int8|int4|int8zp|int4zp|bfp8' err |
			sort -u | wc -l)" = 12
	test_is $? "$c mxfp9: the list has the block formats"
done
run w.safetensors --to mxfp4x0
test $code = 2 && grep -q "block format 'mxfp4x0', character 7" err
test_is $? "an impossible block format: exit 2, and where"
run
test $code = 2 && test "$(wc -l <err)" = 1
test_is $? "no file: exit 2"

finish
