<?php
// SPDX-License-Identifier: GPL-3.0-or-later
// Lines that cost what the program says: `lines.php ROUNDS`. Rounds differ in length, so that no sampling keeps step.
$laps = [];
$last = 0;

function cpu(): int
{
    $used = getrusage();
    return ($used['ru_utime.tv_sec'] + $used['ru_stime.tv_sec']) * 1000000 + $used['ru_utime.tv_usec'] + $used['ru_stime.tv_usec'];
}

// Charges the time since the last lap to the line before the call.
function lap(bool $charge = true): void
{
    global $laps, $last;
    $now = cpu();
    $line = debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS, 1)[0]['line'] - 1;
    if ($charge)
        $laps[$line] = ($laps[$line] ?? 0) + $now - $last;
    $last = cpu();
}

function called(int $count): int
{
    lap(false);
    for ($i = 0, $sum = 0; $i < $count; $i++) $sum += $i & 3;
    lap();
    return $sum;
}

function work(): int
{
    $scale = random_int(2, 20);
    lap(false);
    for ($i = 0, $value = 0; $i < 6000 * $scale; $i++) $value ^= $i;
    lap();
    $value += count(array_map(fn ($i) => $i * $i % 7, range(1, 3000 * $scale)));
    lap();
    $value += called(9000 * $scale);
    lap(false);
    $value += array_sum(array_map('strlen', explode('b', str_repeat('aab', 8000 * $scale))));
    lap();
    return $value;
}

$start = cpu();
for ($round = 0; $round < (int)$argv[1]; $round++)
    work();
echo 'total ', (cpu() - $start) * 1000, "\n";
foreach ($laps as $line => $spent)
    echo "lines.php:$line ", $spent * 1000, "\n";
