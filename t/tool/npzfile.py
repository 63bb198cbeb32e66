# SPDX-License-Identifier: Apache-2.0
# Writes and reads .npy and .npz files of float32, float64 and int64 arrays without any package.
import math, re, struct, zipfile


def npy(shape, values, descr='<f4'):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (descr, ''.join('%d, ' % d for d in shape))
    head += ' ' * (-(len(head) + 11) % 64) + '\n'
    code = {'<f4': 'f', '<f8': 'd', '<i8': 'q'}[descr]
    return b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode() + struct.pack('<%d%s' % (len(values), code), *values)


def npz(path, **arrays):
    """Writes each array, a shape and its values, and perhaps '<i8' for whole numbers."""
    with zipfile.ZipFile(path, 'w') as z:
        for name, array in arrays.items():
            z.writestr(name + '.npy', npy(*array))


def outputs(path):
    """Name: (shape, values) of each array."""
    got = {}
    with zipfile.ZipFile(path) as z:
        for name in z.namelist():
            b = z.read(name)
            n = struct.unpack('<H', b[8:10])[0]
            shape = tuple(int(d) for d in re.search(rb"'shape': \(([^)]*)\)", b[10 : 10 + n]).group(1).replace(b',', b' ').split())
            wide = b'f8' in b[10 : 10 + n]
            got[name[:-4]] = (shape, struct.unpack('<%d%s' % (math.prod(shape), 'd' if wide else 'f'), b[10 + n :]))
    return got
