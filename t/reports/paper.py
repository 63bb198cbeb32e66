# SPDX-License-Identifier: Apache-2.0
# A report's figures in a paper: as wide as the page or a column, text of 8 pt, no text upon another, and LaTeX files
# that compile. The size of a PDF's letters is read from the file alone: cairo compresses its pages with zlib, and each
# piece of text stands behind a matrix (Tm) whose scale is that size.
import os
import re
import shutil
import subprocess
import zlib

import svgtext


def read(path):
    data = open(path, 'rb').read()
    box = [float(x) for x in re.search(rb'/MediaBox \[ *([-\d. ]+)\]', inflated(data))[1].split()]
    sizes = []
    for across, down in re.findall(rb'([\d.]+) 0 0 (-?[\d.]+) [-\d.]+ [-\d.]+ Tm', inflated(data)):
        assert across == down.lstrip(b'-'), (path, across, down)
        sizes.append(float(across))
    for up, across in re.findall(rb'\b0 (-?[\d.]+) (-?[\d.]+) 0 [-\d.]+ [-\d.]+ Tm', inflated(data)):
        sizes.append(abs(float(up)))
    return (box[2] - box[0]) * 25.4 / 72, sizes


def inflated(data):
    all_of_it = [data]
    for m in re.finditer(rb'stream\r?\n(.*?)endstream', data, re.S):
        try:
            all_of_it.append(zlib.decompress(m[1]))
        except zlib.error: # a font, or not compressed
            pass
    return b'\n'.join(all_of_it)


def check(stems, ok):
    """Of the folders report (174 mm) and column (84 mm), which have PDF, SVG and LaTeX files of these stems."""
    for stem in stems:
        for where, width in (('report', 174), ('column', 84)):
            across, letters = read('%s/%s.pdf' % (where, stem))
            small = [s for s in set(letters) if s < 7.99 and abs(s - 6.4) > 0.01] # 6.4: above and below the line
            ok(abs(across - width) < 0.5 and len(letters) > 5 and not small and max(letters) < 9.1,
               '%s/%s.pdf is %.1f mm wide and its text has 8 pt %s' % (where, stem, across, small))
        includes = re.search(r'includegraphics\[width=\\(\w+),', open('column/%s.tex' % stem).read())[1]
        ok(includes == 'linewidth', 'column/%s.tex is as wide as a column' % stem)
        # The SVG of the column has the PDF's layout
        drawn = subprocess.run([os.environ.get('GNUPLOT') or 'gnuplot', '-d', '-e', "narrow = 1; formats = 'svg'",
            stem + '.gp'], cwd='column', stdin=subprocess.DEVNULL, capture_output=True)
        for where in ('report', 'column'):
            wrong, texts = svgtext.faults('%s/%s.svg' % (where, stem), 10)
            said = '%s/%s: its %d texts lie free %s' % (where, stem, texts, wrong[:3])
            ok(not drawn.returncode and texts > 5 and not wrong, said)
    if not shutil.which('pdflatex'):
        ok(True, 'LaTeX compiles # SKIP pdflatex is absent')
        return
    with open('column/paper.tex', 'w') as f:
        inputs = '\n'.join('\\input{%s}\\clearpage' % stem for stem in stems)
        f.write('\\documentclass[twocolumn]{article}\\usepackage{graphicx}\\begin{document}%s\\end{document}' % inputs)
    tried = subprocess.run(['pdflatex', '-interaction=nonstopmode', '-halt-on-error', 'paper.tex'], cwd='column',
        capture_output=True)
    log = tried.stdout.decode(errors='replace')
    ok(not tried.returncode and 'Float too large' not in log, 'LaTeX compiles, and no figure is too large: '
       + log[-200:].replace('\n', ' '))
