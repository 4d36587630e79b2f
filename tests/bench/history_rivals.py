# SPDX-License-Identifier: GPL-3.0-or-later
"""What other methods find in series of values that bench_history_trials wrote.

    history_rivals.py FILE

Otava 0.8.0 (Hunter) on each function's series, its p at most 0.001, alone and with Benjamini and Hochberg over the functions of a
trial; and the rule of Sentry's statistical detectors. Prints, of each: what it finds of the true changes within one profile, points that
are false, and the trials that have one.
"""
import collections
import sys

from otava.analysis import compute_change_points

LEAST_POINTS = 0.1  # percent of the total, as Kelvin's


def otava(values):
    points, _ = compute_change_points(values, window_len=50, max_pvalue=0.001, min_magnitude=0.0)
    return [(p.index, p.stats.pvalue) for p in points
            if abs(p.stats.mean_2 - p.stats.mean_1) >= LEAST_POINTS]


def adjusted(found, tests, rate=0.05):
    """Those of the points that are found at a false discovery rate; `found`: (series, index, p)."""
    kept = 0
    found = sorted(found, key=lambda point: point[2])
    for rank, point in enumerate(found, 1):
        if point[2] * tests / rank <= rate:
            kept = rank
    return found[:kept]


def sentry(values):
    """algorithm.py of getsentry/sentry: two moving averages; regressed or improved where their distance crosses 15 %."""
    short = long = None
    points, before = [], 0.0
    for count, value in enumerate(values, 1):
        short = value if short is None else short + (value - short) * 2 / 21
        long = value if long is None else long + (value - long) * 2 / 41
        change = (short - long) / abs(long) if long else 0.0
        if count >= 6 and ((change >= 0.15 > before) or (change <= -0.15 < before)):
            points.append((count - 1, 0.0))
        before = change
    return points


def main():
    trials = collections.defaultdict(list)
    with open(sys.argv[1]) as lines:
        for line in lines:
            trial, middle, is_true, function, values = line.rstrip("\n").split("\t")
            trials[int(trial)].append((int(middle), is_true == "1", function, [float(v) for v in values.split(",")]))
    for name, method, adjusts in (("Otava", otava, False), ("Otava and BH", otava, True), ("Sentry's rule", sentry, False)):
        true = found = wrong = wrong_trials = 0
        for series in trials.values():
            points = [(i, at, p) for i, s in enumerate(series) for at, p in method(s[3])]
            if adjusts:
                points = adjusted(points, len(series))
            functions = {s[2] for s in series if s[1]}
            near = {series[i][2] for i, at, _ in points if abs(at - series[i][0]) <= 1}
            false = sum(1 for i, at, _ in points if abs(at - series[i][0]) > 1 or not functions)
            true += len(functions)
            found += len(functions & near)
            wrong += false
            wrong_trials += false > 0
        print(f"  {name}: {found} of {true} found, {wrong} false points in {wrong_trials} of {len(trials)} histories")


main()
