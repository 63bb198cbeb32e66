# SPDX-License-Identifier: Apache-2.0
"""The table of operators of ATen: a function registers itself by the names of those that it records.

    @operator("mul", "multiply")
    def mul(s, a, out):
        s.result("mul", [s.input(a["self"]), s.input(a["other"])], first(out))

`s` is the step (tensors.py has its methods), `a` has the arguments by the names of ATen's schema with their defaults,
`out` what the operator returned, or the list of tensors that it wrote to. mul_ is mul unless it has a row of its own.
An operator of another namespace has it before its name, as in fsdp.chunk_cat.
What a function cannot take it refuses by `raise Unknown(reason)`, and the call is opaque.
"""



OPERATORS = {}


def operator(*names):
    """Registers a function as the record of the operators of these names."""
    def register(f):
        for name in names:
            if name in OPERATORS:
                raise ValueError("two functions record aten.%s" % name)
            OPERATORS[name] = f
        return f
    return register
