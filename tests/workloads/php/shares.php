<?php
// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A program of known CPU shares: shares.php FILE [SECONDS]
 *
 * Parts of different kinds (a function, a method, a closure, a generator, a callback of C code, code of an included file, ...) run in turn, in
 * slices, until the process has used SECONDS of CPU time (default 3). FILE then has a line for each: the name and the file of the function
 * that the part is, and the CPU time that was used while it ran, in percent of that of the process.
 */
const SLICE = 0.004;
$spent = [];

function cpu_time()
{
    $usage = getrusage();
    return $usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec'] + ($usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec']) / 1e6;
}

// Computes for a slice.
function work($weight = 1.0)
{
    $end = cpu_time() + SLICE * $weight;
    $total = 0;
    while (cpu_time() < $end)
        for ($i = 0; $i < 3000; $i++)
            $total += $i & 7;
    return $total;
}

// Adds the CPU time of what it calls to the function of a name.
function part($name, $run, $file = __FILE__)
{
    global $spent;

    $begin = cpu_time();
    $run();
    $key = "$name\t$file";
    $spent[$key] = ($spent[$key] ?? 0) + cpu_time() - $begin;
}

function plain()
{
    work(2);
}

class Outer
{
    public function method()
    {
        work();
    }

    public static function of_class()
    {
        work(0.5);
    }

    public function __get($name)
    {
        work();
        return 1;
    }
}

function outer_function()
{
    work(0.5);
    part('inner_function', 'inner_function');
}

function inner_function()
{
    work(1.5);
}

function generated()
{
    work();
    yield 1;
}

function iterate()
{
    foreach (generated() as $value)
        ;
}

function sort_key($a, $b)
{
    work();
    return 0;
}

function replace_match($match)
{
    work(0.7);
    return $match[0];
}

function in_c_code()
{
    $numbers = range(500, 1);
    $end = cpu_time() + SLICE;
    while (cpu_time() < $end) {
        preg_match('/(a|b|ab)*c/', str_repeat('ab', 8));
        json_encode($numbers);
        sort($numbers);
    }
}

function recursion($depth)
{
    if ($depth > 0)
        return recursion($depth - 1);
    work();
}

$included = dirname(realpath($argv[1])) . '/shares_included.php';
file_put_contents($included, "<?php\nwork();\n");
$seconds = (float)($argv[2] ?? 3);
$outer = new Outer;
while (cpu_time() < $seconds) {
    part('plain', 'plain');
    part('Outer::method', [$outer, 'method']);
    part('Outer::of_class', ['Outer', 'of_class']);
    part('Outer::__get', function () use ($outer) { $outer->attribute; });
    part('outer_function', 'outer_function');
    part('generated', 'iterate');
    part('sort_key', function () { $a = [2, 1]; usort($a, 'sort_key'); });
    part('replace_match', function () { preg_replace_callback('/b/', 'replace_match', 'abc'); });
    part('in_c_code', 'in_c_code');
    part('recursion', function () { recursion(100); });
    part('{main}', function () use ($included) { include $included; }, $included);
}
$total = cpu_time();
$lines = '';
foreach ($spent as $name => $time)
    $lines .= sprintf("%s\t%.4f\n", $name, 100 * $time / $total);
file_put_contents($argv[1], $lines);
unlink($included);
