# SPDX-License-Identifier: Apache-2.0
# Finds and runs the program halfulp: $HALFULP, else the one that the wheel brought, else the one on PATH.
"""Where the program is, and how it is run."""
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
OWN = os.path.join(HERE, "bin", "halfulp")


class ProgramError(RuntimeError):
    """The program was not found, or failed; the text is its own line."""


class Refused(ProgramError, ValueError):
    """The program refused what it was given; the text is its own line."""


def find():
    """The path of the program. ProgramError where there is none."""
    found = os.environ.get("HALFULP") or (OWN if os.access(OWN, os.X_OK) else shutil.which("halfulp"))
    if not found:
        raise ProgramError("the program halfulp is not found: put it on PATH, or its path into HALFULP")
    return found


def environment():
    """The environment of the program: what it draws with lies beside the one that the wheel brought."""
    share = os.path.join(HERE, "share")
    return dict(os.environ, HALFULP_SHARE=share) if os.path.isdir(share) and "HALFULP_SHARE" not in os.environ else None


def run(*words):
    """The ended process of `halfulp WORDS`, its output as texts. ProgramError where it exits with 2 or more."""
    try:
        done = subprocess.run([find(), *map(str, words)], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              env=environment())
    except OSError as why:
        raise ProgramError("halfulp cannot be started: %s" % why) from None
    if done.returncode not in (0, 1):
        refused = Refused if done.returncode in (2, 3) else ProgramError
        raise refused(done.stderr.strip() or "halfulp %s ended with %d" % (words[0], done.returncode))
    return done


def main():
    """The command halfulp of the wheel: becomes the program."""
    try:
        os.execve(find(), ["halfulp", *sys.argv[1:]], environment() or dict(os.environ))
    except (OSError, ProgramError) as why:
        sys.exit("halfulp: %s" % why)
