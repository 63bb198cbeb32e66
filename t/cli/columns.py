# SPDX-License-Identifier: Apache-2.0
# Which lines that a command prints are wider than a terminal of 80 columns. Held are lines of columns, which are those
# with two gaps of two blanks or more: a terminal wraps a sentence, and no table. What programs read (JSON, TSV, TAP,
# pictures) and drawings of bits have no such width.
import re

WIDTH = 80
MACHINES = re.compile(r'--(json|tsv|tap|table|export|svg|png|pdf|tex|format (junit|sarif|github|markdown)|explain|'
                      r'curve|step|program|stdout|markdown)\b')
GAP = re.compile(r'\S  +(?=\S)|\t')
PLAIN = re.compile(r'^halfulp (\w+)( [^|;&<>`$]*)?$')


class Fits:
    """RAN: how many commands were judged, by their names; WIDE: those that print lines that are too wide."""

    def __init__(self):
        self.ran, self.wide = {}, {}

    def judged(self, text):
        """The name of the command TEXT, where what it prints is for people; what is quoted is none of its words."""
        name = PLAIN.match(re.sub(r"'[^']*'", 'X', text))
        return name[1] if name and not MACHINES.search(text) else None

    def see(self, text, lines, of):
        name = self.judged(text)
        if not name:
            return
        self.ran[name] = self.ran.get(name, 0) + 1
        bad = [line for line in lines if len(line) > WIDTH and len(GAP.findall(line.strip())) > 1]
        if bad:
            self.wide.setdefault(name, []).append('%s: %s\n  %d: %s' % (of, text, len(bad[0]), bad[0]))
