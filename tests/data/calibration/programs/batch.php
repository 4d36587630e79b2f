<?php
// SPDX-License-Identifier: GPL-3.0-or-later
// Reads lines of JSON, counts, matches and sorts: batch.php FOLDER.
function read(string $path): array
{
    return array_map(fn($line) => json_decode($line, true), file($path));
}

function count_tags(array $rows): array
{
    $counts = [];
    foreach ($rows as $row)
        foreach ($row["tags"] as $tag)
            $counts[$tag] = ($counts[$tag] ?? 0) + 1;
    return $counts;
}

function matching(array $rows): int
{
    return count(array_filter($rows, fn($row) => preg_match('/\b([a-f]+)\w* (\w*[aeiou]{2}\w*)/', $row["name"])));
}

function near(array $rows): int
{
    $near = 0;
    for ($i = 1; $i < count($rows); $i++)
        $near += levenshtein($rows[$i]["name"], $rows[$i - 1]["name"]) < 12 ? 1 : 0;
    return $near;
}

function primes(int $most): int
{
    $marks = array_fill(0, $most, true);
    $found = 0;
    for ($i = 2; $i < $most; $i++) {
        if (!$marks[$i])
            continue;
        $found++;
        for ($j = $i * $i; $j < $most; $j += $i)
            $marks[$j] = false;
    }
    return $found;
}

ini_set("memory_limit", "1G");
$rows = read($argv[1] . "/rows.json");
usort($rows, fn($a, $b) => strcmp($a["name"], $b["name"]));
echo count(count_tags($rows)), " ", matching($rows), " ", near($rows), " ", primes(8000000), "\n";
