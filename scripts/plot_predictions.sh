#!/bin/sh
# SPDX-License-Identifier: MIT
# Usage: plot_predictions.sh LOG PICTURE.png
# Plot predicted against measured times of every plan in LOG: what `kallima tune --verbose`
# wrote to standard error, or `test_tune_data --verbose` to standard output.
set -eu

if [ $# -ne 2 ]; then
    echo "usage: $0 LOG PICTURE.png" >&2
    exit 2
fi
command -v gnuplot >/dev/null 2>&1 || {
    echo "plot_predictions: gnuplot is missing; it is in the package gnuplot-nox" >&2
    exit 1
}
log=$1
picture=$2
points=$(mktemp)
trap 'rm -f "$points"' EXIT

# Both times, then both over those of the default, then the kind of plan. A problem is a line
# that is not indented, its default comes first, and its fastest is known when it ends.
awk '
function time_of(word,   i) {
    for (i = 1; i < NF; i++)
        if ($i == word)
            return $(i + 1)
    return 0
}
function end_problem(   i) {
    for (i = 1; i <= count; i++)
        print measured[i], predicted[i], measured[i] / measured[1], predicted[i] / predicted[1],
            i == 1 ? "default" : i == best ? "fastest" : "other"
    count = best = 0
}
/^[^ ]/ { end_problem() }
/^ / && time_of("measured") > 0 && time_of("predicted") > 0 {
    measured[++count] = time_of("measured")
    predicted[count] = time_of("predicted")
    if (!best || measured[count] < measured[best])
        best = count
}
END { end_problem() }
' "$log" >"$points"
[ -s "$points" ] || {
    echo "plot_predictions: $log has no plan that was measured" >&2
    exit 1
}

gnuplot <<END
set terminal pngcairo size 1240,640 font "sans,14" noenhanced
set output "$picture"
set logscale xy
set size ratio -1
set grid lt 1 lw 1 lc rgb "#e0e0e0"
set border lc rgb "#666666"
set key top left reverse Left samplen 1 spacing 1.1
set tmargin at screen 0.92
set bmargin at screen 0.12
kind(word) = sprintf("< grep ' %s\$' '$points'", word)
range(low, high) = sprintf("set xrange [%g:%g]; set yrange [%g:%g]", low, high, low, high)

set multiplot layout 1, 2
stats "$points" using 1 name "measured" nooutput
stats "$points" using 2 name "predicted" nooutput
low = (measured_min < predicted_min ? measured_min : predicted_min) / 1.5
high = (measured_max > predicted_max ? measured_max : predicted_max) * 1.5
set lmargin at screen 0.08
set rmargin at screen 0.49
eval range(low, high)
set title "Times"
set xlabel "measured, microseconds"
set ylabel "predicted, microseconds"
plot x with lines lc rgb "#666666" title "equal", \
     kind("other") using 1:2 with points pt 7 ps 0.4 lc rgb "#8fb0cc" title "other plans", \
     kind("default") using 1:2 with points pt 6 ps 1.1 lw 1.5 lc rgb "#1f4e8c" title "default", \
     kind("fastest") using 1:2 with points pt 2 ps 0.9 lw 1.5 lc rgb "#d1561a" \
         title "fastest, if another"

set lmargin at screen 0.58
set rmargin at screen 0.99
eval range(0.5, 25)
set title "Times over those of the same problem's default"
set xlabel "measured ratio"
set ylabel "predicted ratio"
set xtics (0.5, 1, 2, 5, 10, 20)
set ytics (0.5, 1, 2, 5, 10, 20)
plot x with lines lc rgb "#666666" notitle, \
     kind("other") using 3:4 with points pt 7 ps 0.4 lc rgb "#8fb0cc" notitle, \
     kind("fastest") using 3:4 with points pt 2 ps 0.9 lw 1.5 lc rgb "#d1561a" notitle
END
