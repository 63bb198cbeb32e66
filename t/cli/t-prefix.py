#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# A public name says where it is defined: hu_FILE_… or hu_FOLDER_… in FOLDER/FILE.c, or hu_TYPE_… where a header
# of FOLDER has the type hu_TYPE. How many do not may only fall.
import os, re, subprocess, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import TOP, finish, ok, skip_all  # noqa: E402

top = TOP
build = os.environ.get("top_builddir", ".")
HOUSE = ["lib", "cuda", "trainer", "analyzers", "reports"]
# Rows of tables are named after the table, whatever file they stand in, and so are the two sides of the GPU's code.
ROWS = re.compile(r"hu_(ball_row|op|analyzer|sum_model|optim|dataset|model|bench|cmd|family|gpu|shim)_\w+$")
HELD = 126
of_folder = {}


def words(text):
    return [w for w in re.split(r"[_/.-]", text) if w]


# The types that the headers of a folder define.
def types(folder):
    found = set()
    for name in os.listdir(os.path.join(top, folder)):
        if name.endswith((".h", ".cuh")):
            with open(os.path.join(top, folder, name), encoding="utf-8") as f:
                found.update(re.findall(r"^(?:(?:typedef )?(?:struct|enum|union) |\} )(hu_\w+)(?: \{|;| \1;)", f.read(), re.M))
    return found


# The name agrees if its first word is a word of the file's name or of its folder's, in the singular or the plural, or
# if it begins with a type of the folder.
def agrees(name, file):
    folder, stem = os.path.split(os.path.splitext(file)[0])
    known = set(words(stem) + words(os.path.basename(folder)))
    known |= {w + "s" for w in known} | {w[:-1] for w in known if w.endswith("s")}
    if folder not in of_folder:
        of_folder[folder] = types(folder) if os.path.isdir(os.path.join(top, folder)) else set()
    return words(name)[1] in known or any(name.startswith(t + "_") for t in of_folder[folder])


def is_source(file):
    return any(os.path.exists(os.path.join(top, os.path.splitext(file)[0] + end)) for end in (".c", ".cu", ".cc"))


def public():
    objects = [os.path.relpath(os.path.join(at, name), build) for folder in HOUSE
               for at, _, names in os.walk(os.path.join(build, folder)) for name in names
               if name.endswith(".o") and not name.endswith(".shim.o")]
    out = subprocess.run(["nm", "-A", "-P"] + objects, cwd=build, capture_output=True, text=True).stdout
    for line in out.splitlines():
        match = re.match(r"(\S+): (hu_\w+) ([TDRBC]) ", line)
        file = match and re.sub(r"libhalfulp\w*_a-", "", match[1])
        if match and not ROWS.match(match[2]) and is_source(file):  # not of a file that is gone
            yield match[2], file


names = sorted(set(public()))
if len(names) < 300:
    skip_all("nm found %d public names" % len(names))
wrong = sorted((file, name) for name, file in names if not agrees(name, file))
ok(len(wrong) <= HELD, "%d of %d public names do not begin with a word of their file or folder; %d may" %
   (len(wrong), len(names), HELD))
if len(wrong) < HELD:
    print("# the number in this test falls to %d" % len(wrong))
if len(wrong) > HELD or "--list" in sys.argv:
    for file, name in wrong:
        print("# %s: %s" % (file, name))
ok(not agrees("hu_somewhere_find", "lib/number/format.o"), "a wrong name would be seen")
finish()
