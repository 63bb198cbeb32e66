# SPDX-License-Identifier: Apache-2.0
# What a mutation changes: (kind, pattern, replacement). The places in a file, by line, where one applies.
import functools
import os
import re

from .known import KNOWN

INDEX = [
    ("index", r"\bin\[(\d)\]", lambda m: "in[%d]" % (int(m[1]) ^ 1)),
    ("index", r"\bout\[(\d)\](?!\[)", lambda m: "out[%d]" % (int(m[1]) ^ 1)),
    ("index", r"\bHU_AT_EACH\b", "HU_AT_ONE"),
    ("index", r"\bHU_AT_(ROW|CHANNEL|IMAGE|ONE)\b", "HU_AT_EACH"),
    ("index", r"\[(\w+)\]", lambda m: "[%s ^ 1]" % m[1] if not m[1].isdigit() else "[%d]" % (int(m[1]) ^ 1)),
    ("index", r"\bthreadIdx\.x\b", "(threadIdx.x ^ 1)"),
    ("index", r"\bthreadIdx\.y\b", "(threadIdx.y ^ 1)"),
]
ARITHMETIC = [
    ("operator", r" \+ ", " - "),
    ("operator", r" - ", " + "),
    ("operator", r" \* ", " + "),
    ("operator", r" / ", " * "),
    ("operator", r" % ", " / "),
]
EDGES = [
    ("operator", r" < ", " <= "),
    ("operator", r" > ", " >= "),
    ("operator", r" >= ", " > "),
]
LOGIC = [
    ("operator", r" == ", " != "),
    ("operator", r" != ", " == "),
    ("operator", r" && ", " || "),
    ("operator", r" \|\| ", " && "),
    ("operator", r"(?<!\w)!(?=[\w(])", ""),
    ("operator", r" \? ([^:?]+) : ([^:?;)]+)", lambda m: " ? %s : %s" % (m[2], m[1])),
    ("operator", r"/= 2", "/= 4"),
]
BARRIERS = [
    ("barrier", r"HU_SYNC\(\);", ";"),
    ("barrier", r"hu_syncwarp\(\);", ";"),
]
# Of C: always the first element (a neighbour's index only walks the same elements in another order); comparisons turned
# round, which no choice among equals survives; operands dropped; numbers, signs and results changed.
STATEMENTS = [
    ("index", r"\[(\w+)\]", lambda m: "[0]" if not m[1].isdigit() else "[%d]" % (int(m[1]) ^ 1)),
    ("operator", r" < ", " >= "),
    ("operator", r" > ", " <= "),
    ("operator", r" >= ", " < "),
    ("operator", r" <= ", " > "),
    ("dropped", r" / [\w.>-]+(?=[;),])", ""),
    ("dropped", r" \* [\w.>-]+(?=[;),])", ""),
    ("number", r"(?<![\w.\"'\[{#-])([2-9]|[1-9]\d+)(?![\w.])", lambda m: str(int(m[1]) + 1)),
    ("sign", r" \+= ", " -= "),
    ("sign", r" \|= ", " &= "),
    ("sign", r" = 0;", " = 1;"),
    ("result", r"return 1;", "return 0;"),
    ("result", r"return 0;", "return 1;"),
]
KERNELS = INDEX + ARITHMETIC + EDGES + LOGIC + BARRIERS
SOURCES = INDEX[:2] + ARITHMETIC + LOGIC + STATEMENTS

# Not mutated: what changes only how the work is spread (grid sizes, strides of a grid: the same elements, perhaps
# twice), how much memory is asked for, declarations of arrays, and the words of a message.
SPREAD = r"hu_blocks_for|gridDim|hu_fail\(|static_assert|_groups|_lies|may_lie|HU_ONCE|hu_attr_num\(|^\s*#(?!define)|^\s*(/?\*|//)|template|memset|sizeof|^\s*(?:static |const )*hu_\w+ \*?\w+(?:\[\d\])?(?:, \w+(?:\[\d\])?)*;"
# Of C also: words for people (notes in a table's head, messages, the bar of progress), loops' division among threads,
# and broken invariants of the house, which no input reaches.
WORDS = r"hu_fail\(|hu_complain|HU_ASSERT|hu_bug|hu_tsv_note|hu_progress|hu_warn|hu_str_addf\(&a->said|^\s*#|^\s*(/?\*|//)|memset|memcpy|sizeof|HU_GROW|hu_x\w*alloc|\bfree\(|_release\(|\bomp\b|^\s*(?:static |const |unsigned )*\w+ \*?\w+\[[^]]+\](?:, \*?\w+(?:\[[^]]+\])?)*;|\.summary|fprintf\(stderr|^\s*\""


# The further lines of such a message.
MESSAGE = r"hu_fail\(|hu_complain\(|hu_bug\(|hu_tsv_note\(|hu_warn\(|fprintf\(stderr"

# Plural endings, a room for text that is one larger than it is (what is written beyond it only sanitizers see), and a
# digit more than a double has.
PLURAL = r'\? "(s|es|is|are| is|s are|y|ies)?" : "(s|es|is|are| is|s are|y|ies)?"'
ROOM = r"(snprintf\([\w.>\[\]-]+, |hu_bytes_text\([^,]+, [^,]+, |JSON_REAL_PRECISION\()$"
# A line that begins by declaring something: brackets before a comma, a semicolon or values in braces are a size.
DECLARED = r"\s*(?:static |const |unsigned )*(?!return |else |case )[a-z]\w+ (?:\*?(?:const )?[a-z]\w*\b|$)"
# What only gives memory back: the leak sanitizer of CI's second job judges it, and the tests that mutants are put to
# run without one. So functions named so are left alone, as lines that do it are (WORDS), and loops and conditions of
# such a line alone.
GIVES_BACK = r"(^|_)(release|free)(_|$)"
ONLY_FREES = r"\s*(free|json_decref|\w+_(release|free)|\w+->close)\(.*\);$"
# The room of a text from its middle on, which is too large by one sign: as ROOM.
REST = r"snprintf\([^,]+, [\w.>\[\]-]+$"


def only_frees(text, number):
    """Whether the loop or condition that begins there does nothing else than give memory back."""
    if not re.match(r"\s*(for \(|(if|while) \((?!.* = )).*\)( {)?$", text[number]):
        return False
    block, end = text[number].endswith("{"), number + 2
    if block:
        end = next(n for n in range(number + 1, len(text)) if re.match(r"\s*}", text[n]))
    inner = range(number + 1, end)
    return bool(inner) and all(re.match(ONLY_FREES, text[n]) or (block and only_frees(text, n)) for n in inner)


def spared_here(code, match, what):
    """Whether this place is of no interest, whatever the line is."""
    before, after = code[:match.start()], code[match.end():]
    array = re.fullmatch(DECLARED + r"[^=(;]*\[[^]=;]*", before) and re.match(r"[^[;=]*\](?:\[\w*\])*(?: = {|[,;])", after)
    sized = re.match(DECLARED, before) and not re.search(r" = [^{]", before) and re.match(r" = [{\"]|[,;]", after)
    declared = what == "index" and (sized or after.startswith(" = {"))
    precise = what == "number" and re.search(r"mpfr_inits?2\([^;]*$", before) # a bit more than the value has
    room = re.search(ROOM, before) if what == "number" else match[0] == " - " and re.search(REST, before)
    return array or declared or precise or room or re.fullmatch(r"\s*" + PLURAL, match[0])


@functools.lru_cache(maxsize=4)
def open_lines(text, spared):
    """The lines that may be changed: number, line, and the line without comments. A file is asked for many times."""
    found, comment, message = [], False, False
    text = text.split("\n")
    for number, line in enumerate(text):
        begins = comment or line.lstrip().startswith("/*")
        comment = begins and "*/" not in line
        code = re.sub(r"/\*.*?\*/", lambda m: " " * len(m[0]), line)
        goes_on, message = message, re.search(MESSAGE, code) is not None or message
        message = message and not code.rstrip().endswith((";", "{"))
        if not (begins or goes_on or only_frees(text, number) or re.search(spared, code)):
            found.append((number, line, code))
    return found


def candidates(top, path, rules, spared, lines=None):
    """Mutations of PATH: (path, line, from, to, kind, replacement). SPARED: a pattern of lines to leave alone; LINES:
    those to look at."""
    found, seen = [], set()
    with open(os.path.join(top, path)) as f:
        text = f.read()
    for number, line, code in open_lines(text, spared):
        if lines is not None and number not in lines:
            continue
        for what, pattern, by in rules:
            for m in re.finditer(pattern, code):
                if "HU_AT_" in pattern and code[:m.start()].rfind("hu_operand_of(") > code[:m.start()].rfind("hu_field"):
                    continue # an operand that a kernel of its own reads by its own index
                quoted = code[:m.start()].count('"') % 2
                new = by(m) if callable(by) else by
                changed = (number, line[:m.start()] + new + line[m.end():])
                same = any(path == file and part in changed[1] for file, part, why in KNOWN)
                if not quoted and not spared_here(code, m, what) and new != m[0] and changed not in seen and not same:
                    seen.add(changed)
                    found.append((path, number, m.start(), m.end(), what, new))
    return found


def functions(top, path):
    """Of a C file in the house's layout: name of each function and the lines of its body."""
    found, name, start = [], None, 0
    for number, line in enumerate(open(os.path.join(top, path)).read().split("\n")):
        m = re.match(r"([a-z]\w*)\(", line)
        if m and not line.rstrip().endswith(";"):
            name = m[1]
        elif line == "{" and name:
            start = number
        elif line == "}" and name and start:
            if not re.search(GIVES_BACK, name):
                found.append((name, set(range(start, number))))
            name, start = None, 0
    return found
