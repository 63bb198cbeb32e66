# SPDX-License-Identifier: Apache-2.0
# What the gallery's figures share: the canvas of each style, a colour for each format, how numbers are said.
# Green, amber and red are not among the colours: they are for verdicts. Those who see two primaries only tell them
# apart, too (t/reports/t-colours.py).
set encoding utf8
set minussign
set datafile separator "\t"
set datafile missing '-'

dark = style eq 'dark'; talk = style eq 'talk'
u = talk ? 2. : 1.
# A figure for a column of a paper is drawn on a smaller canvas, without its title, which the caption says; its PDF is
# 84 mm wide
if (!exists('narrow')) narrow = 0
head = narrow ? 16. : 66.
if (!exists('height')) height = narrow ? 320 : 360
if (!exists('width')) width = narrow ? 440 : 640
shrunk = narrow ? 84 / 25.4 * 96 / width : 1.
# Margins are written for a canvas 640 wide, and have as many pixels on any other
left(x) = x * 640. / width
right(x) = 1 - (1 - x) * 640. / width

ink = dark ? '#E6E6E3' : '#222222'; soft = dark ? '#A2A2A8' : '#5F5F66'; rule = dark ? '#303237' : '#DDDDDD'; faint = dark ? '#26282C' : '#F1F1EE'
ground = dark ? '#15171A' : '#FFFFFF'
blue = dark ? '#31B0D6' : '#0072B2'; purple = dark ? '#FF80EA' : '#AA4499'; teal = dark ? '#5FCCBE' : '#44AA99'; cyan = dark ? '#A5D6E9' : '#88CCEE'
indigo = dark ? '#8C84E3' : '#332288'; olive = dark ? '#C4C45C' : '#999933'; wine = dark ? '#EC727F' : '#882255'
# The same, dark enough to be read as text
teal_text = dark ? teal : '#1F7466'; cyan_text = dark ? cyan : '#22709C'; olive_text = dark ? olive : '#6B6B1C'
hue(f) = f eq 'fp16' ? blue : f eq 'bf16' ? purple : f eq 'fp32' ? ink : f eq 'e4m3' ? teal : f eq 'e5m2' ? olive : f eq 'tf32' ? cyan : f eq 'fp64' ? indigo : wine
tone(f) = f eq 'e4m3' ? teal_text : f eq 'e5m2' ? olive_text : f eq 'tf32' ? cyan_text : hue(f)

# The terminal of FORMAT and its output file; sizes are pixels of a page, 96 to the inch
canvas(format) = (format eq 'svg' \
	? sprintf("set terminal svg size %d,%d dynamic enhanced font 'sans-serif,%g'%s linewidth %g", u * width, u * height, 13 * u, (dark || talk ? " background '".ground."'" : ''), u) \
	: format eq 'png' ? sprintf("set terminal pngcairo size %d,%d enhanced font 'sans-serif,%g' linewidth %g pointscale %g background '%s'", 2 * width, 2 * height, 19.5, 2., 2., ground) \
	: sprintf("set terminal pdfcairo size %fin,%fin enhanced font 'sans-serif,%g' fontscale 0.75 linewidth %g pointscale %g%s", u * shrunk * width / 96., u * shrunk * height / 96., 9.75 * u * shrunk, u * shrunk, shrunk, (dark || talk ? " background '".ground."'" : ''))) \
	. sprintf("; set output '%s.%s'", stem, format)
# The font of small text, in the terminal at hand
little(format) = sprintf('sans-serif,%g', format eq 'svg' ? 11 * u : format eq 'png' ? 16.5 : 8.25 * u * shrunk)
# Bold text, in which _ ^ { } have gnuplot's meaning
B(text) = '{/:Bold '.text.'}'

# A number as a reader says it: 1.2·10⁻⁵, 65 504, 0.25
digit_up(s) = s eq '0' ? '⁰' : s eq '1' ? '¹' : s eq '2' ? '²' : s eq '3' ? '³' : s eq '4' ? '⁴' : s eq '5' ? '⁵' : s eq '6' ? '⁶' : s eq '7' ? '⁷' : s eq '8' ? '⁸' : s eq '9' ? '⁹' : s eq '-' ? '⁻' : s
raised(s) = strlen(s) ? digit_up(s[1:1]).raised(s[2:*]) : ''
sign_of(x) = x < 0 ? '−' : ''
threes(s) = strlen(s) <= 3 ? s : threes(s[1:strlen(s) - 3]).' '.s[strlen(s) - 2:*]
grouped(s) = strlen(s) <= 4 ? s : threes(s)
exponent(x) = int(floor(log10(abs(x)) + 1e-12))
mantissa(x) = sprintf('%.3g', abs(x) / 10.**exponent(x))
scientific(x) = mantissa(x) eq '1' ? '10'.raised(sprintf('%d', exponent(x))) : mantissa(x).'·10'.raised(sprintf('%d', exponent(x)))
say(x) = x != x ? 'NaN' : abs(x) > 1e300 ? sign_of(x).'∞' : x == 0 ? '0' : sign_of(x).(abs(x) >= 1e-3 && abs(x) < 1e7 \
	? (abs(x) == floor(abs(x)) ? grouped(sprintf('%d', abs(x))) : sprintf('%.4g', abs(x))) : scientific(x))
log2(x) = log(x) / log(2)
# A power of two as 2⁻²⁴
power(x) = '2'.raised(sprintf('%d', int(floor(log2(abs(x)) + 0.5))))
minus(s) = s[1:1] eq '-' ? '−'.s[2:*] : s
percent(x) = sprintf('%.3g %%', 100 * x)
positive(x) = x > 0 ? x : NaN

set border 3 lc rgb soft lw 0.8
set tics nomirror out scale 0.6 textcolor rgb ink
set grid back lt 1 lc rgb rule lw 0.6
set key noenhanced textcolor rgb ink reverse Left samplen 1.6 spacing 1.15
set style fill solid 1 noborder
unset key

# Every figure begins with these: the canvas, the message as its title, and below it what is drawn
titled = "; set label 1001 B(title(0)) at screen 0.02, screen 1 - 22. / height left textcolor rgb ink" \
	. "; set label 1002 drawn_text at screen 0.02, screen 1 - 43. / height left noenhanced font little(format) textcolor rgb soft"
begin(format, what) = (drawn_text = what, canvas(format)) . (narrow ? '' : titled) \
	. "; set lmargin at screen left(0.11); set rmargin at screen right(0.96)" \
	. "; set tmargin at screen 1 - head / height; set bmargin at screen 58. / height"
