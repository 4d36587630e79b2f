<?php
// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A program that says itself in which calls it is: steps.php FILE [SECONDS [STEP,STEP,...]]
 *
 * It goes through chains of calls of all kinds. At the end of each it has its thread named after the step, computes for a while, and gives
 * the thread its old name back: the thread's name in a sample tells the step, to the instruction. FILE gets the chain of each step, as
 * debug_backtrace() tells it: `STEP NAME FILE LINE` for each frame, the outermost first, by names as kelvin has them. The line of the
 * innermost one is 0, for it moves on. An empty line follows. This works with PHP 7.4 and later; later versions have more steps.
 */
declare(strict_types=1);

$file = $argv[1];
$seconds = (float)($argv[2] ?? 0.05);
$chosen = isset($argv[3]) ? explode(',', $argv[3]) : null;
$log = fopen($file, 'a');
$logged = [];

// A function's name without the line where it stands, which names of closures have since PHP 8.4.
function name_of(array $entry, string $path): string
{
    $name = $entry['function'];
    if (in_array($name, ['include', 'include_once', 'require', 'require_once'], true) && $path !== '<internal>')
        return '{main}';
    if ($name === 'eval')
        return '{eval}';
    if (strpos($name, '{closure:') !== false) {
        preg_match('/.*\{closure:(.*?):\d+\}/', $name, $match);
        return $match[1][0] === '/' ? '{closure}' : "{closure:$match[1]}";
    }
    $class = preg_replace('/\0.*/s', '', $entry['class'] ?? '');
    if (substr($name, -9) === '{closure}')
        $name = '{closure}';
    return $class === '' ? $name : "$class::$name";
}

// Frames from the caller of the function that calls this on, the outermost first.
function own_chain(): array
{
    $trace = array_slice(debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS), 1);
    $chain = [];
    for ($i = 1; $i <= count($trace); $i++) {
        // Where the one before was called is in this one's code.
        $path = preg_replace('/\(\d+\) : eval\(\)\'d code.*/', '', $trace[$i - 1]['file'] ?? '<internal>');
        if ($i === count($trace) && $path === '<internal>')
            break;
        $name = $i < count($trace) ? name_of($trace[$i], $path) : '{main}';
        $chain[] = [$name, $path, $i === 1 ? 0 : $trace[$i - 1]['line'] ?? 0];
    }
    return array_reverse($chain);
}

// While it lasts, the thread's name says which step it is in. Its writer is a constant, so that nothing is called at the end.
class NamedThread
{
    private $comm;
    private string $before;

    public function begin(string $step): void
    {
        global $log, $logged;

        $chain = own_chain();
        if (($logged[$step] ?? $chain) !== $chain)
            exit("step $step has several chains\n");
        $logged[$step] = $chain;
        $text = '';
        foreach ($chain as [$name, $path, $line])
            $text .= "$step\t$name\t$path\t$line\n";
        fwrite($log, "$text\n");
        fflush($log);
        $this->before = file_get_contents('/proc/' . getmypid() . '/comm');
        $this->comm = fopen('/proc/' . getmypid() . '/comm', 'r+');
        fwrite($this->comm, 'step:' . substr($step, 0, 10));
        fflush($this->comm);
    }

    public function end(): void
    {
        fwrite($this->comm, $this->before);
        fclose($this->comm);
    }
}

function cpu_time(): float
{
    $usage = getrusage();
    return $usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec'] + ($usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec']) / 1e6;
}

function tick(int $i): int
{
    return $i & 7;
}

// The end of a chain: computes in PHP, with calls.
function here(string $step): void
{
    global $seconds;

    $named = new NamedThread;
    $named->begin($step);
    $end = cpu_time() + $seconds;
    while (cpu_time() < $end) {
        $total = 0;
        for ($i = 0; $i < 2000; $i++)
            $total += tick($i);
    }
    $named->end();
}

// The end of a chain: computes in C code that calls nothing back.
function here_in_c(string $step): void
{
    global $seconds;

    $numbers = range(2000, 1);
    $text = str_repeat('abababc', 1000);
    $named = new NamedThread;
    $named->begin($step);
    $end = cpu_time() + $seconds;
    while (cpu_time() < $end) {
        md5($text);
        $copy = $numbers;
        sort($copy);
        preg_match_all('/(a|b)+c/', $text, $matches);
    }
    $named->end();
}

function outer(string $step): void
{
    middle($step);
}

function middle(string $step): void
{
    inner($step);
}

function inner(string $step): void
{
    here($step);
}

trait Counted
{
    public function of_trait(string $step): void
    {
        here($step);
    }
}

class Shape implements ArrayAccess, IteratorAggregate, Countable, JsonSerializable
{
    use Counted;

    public static string $on_destruct = '';
    public string $step = '';

    public function method(string $step): void
    {
        here($step);
    }

    public static function of_class(string $step): void
    {
        here($step);
    }

    public function __get($name)
    {
        here($name);
        return 1;
    }

    public function __call($name, $arguments)
    {
        here($arguments[0]);
    }

    public static function __callStatic($name, $arguments)
    {
        here($arguments[0]);
    }

    public function __toString(): string
    {
        here($this->step);
        return '';
    }

    public function __invoke($step)
    {
        here($step);
        return 1;
    }

    public function __destruct()
    {
        if ($this->step === 'del')
            here('del');
    }

    #[ReturnTypeWillChange]
    public function offsetGet($offset)
    {
        here($offset);
        return 1;
    }

    public function offsetSet($offset, $value): void
    {
    }

    public function offsetExists($offset): bool
    {
        return true;
    }

    public function offsetUnset($offset): void
    {
    }

    public function getIterator(): Iterator
    {
        here($this->step);
        return new ArrayIterator([]);
    }

    public function count(): int
    {
        here('count');
        return 0;
    }

    #[ReturnTypeWillChange]
    public function jsonSerialize()
    {
        here('json');
        return 0;
    }
}

function shape(string $step): Shape
{
    $shape = new Shape;
    $shape->step = $step;
    return $shape;
}

function generator(string $step)
{
    here($step);
    yield 1;
}

function delegating(string $step)
{
    yield from generator($step);
}

function recurse(int $depth, string $step): void
{
    if ($depth > 0)
        recurse($depth - 1, $step);
    else
        here($step);
}

function recurse_through_c(int $depth, string $step): void
{
    if ($depth > 0)
        array_map('recurse_through_c', [$depth - 1], [$step]);
    else
        here($step);
}

function raise_and_catch(string $step): void
{
    try {
        throw new RuntimeException($step);
    } catch (RuntimeException $error) {
        here($error->getMessage());
    }
}

function forked(string $step): void
{
    $pid = pcntl_fork();
    if ($pid === 0) {
        middle($step);
        posix_kill(getmypid(), SIGKILL);
    }
    pcntl_waitpid($pid, $status);
}

function iterate(iterable $values): void
{
    foreach ($values as $value)
        ;
}

$included = tempnam(sys_get_temp_dir(), 'step') . '.php';
file_put_contents($included, "<?php\ninner(\$GLOBALS['included_step']);\n");
$steps = [
    'plain' => function ($s) { outer($s); },
    'in_c' => function ($s) { here_in_c($s); },
    'method' => function ($s) { (new Shape)->method($s); },
    'static' => function ($s) { Shape::of_class($s); },
    'trait' => function ($s) { (new Shape)->of_trait($s); },
    'closure' => function ($s) { (function ($t) { (function ($u) { inner($u); })($t); })($s); },
    'arrow' => fn($s) => inner($s),
    'array_map' => function ($s) { array_map('middle', [$s]); },
    'map_clos' => function ($s) { array_map(function ($t) { inner($t); }, [$s]); },
    'filter' => function ($s) { array_filter([$s], 'outer'); },
    'reduce' => function ($s) { array_reduce([1], fn($a, $b) => inner($s)); },
    'walk' => function ($s) { $a = [$s]; array_walk($a, fn($t) => inner($t)); },
    'call_user' => function ($s) { call_user_func('outer', $s); },
    'call_meth' => function ($s) { call_user_func_array([new Shape, 'method'], [$s]); },
    'usort' => function ($s) { $a = [2, 1]; usort($a, function ($x, $y) use ($s) { here($s); return 0; }); },
    'replace' => function ($s) { preg_replace_callback('/b/', function ($m) use ($s) { inner($s); return ''; }, 'abc'); },
    'get' => function ($s) { (new Shape)->{$s}; },
    'call' => function ($s) { (new Shape)->any($s); },
    'callstatic' => function ($s) { Shape::any($s); },
    'tostring' => function ($s) { (string)shape($s); },
    'invoke' => function ($s) { (new Shape)($s); },
    'del' => function ($s) { $shape = shape($s); unset($shape); },
    'offset' => function ($s) { (new Shape)[$s]; },
    'iterator' => function ($s) { iterate(shape($s)); },
    'count' => function ($s) { count(new Shape); },
    'json' => function ($s) { json_encode(new Shape); },
    'generator' => function ($s) { iterate(generator($s)); },
    'to_array' => function ($s) { iterator_to_array(generator($s)); },
    'include' => function ($s) { global $included, $included_step; $included_step = $s; include $included; },
    'eval' => function ($s) { eval('inner($s);'); },
    'evaldef' => function ($s) { eval('function defined_(string $s): void { outer($s); }'); defined_($s); },
    'anonymous' => function ($s) { (new class { public function method($s) { here($s); } })->method($s); },
    'reflect' => function ($s) { (new ReflectionFunction('middle'))->invoke($s); },
    'bound' => function ($s) { Closure::bind(function ($t) { $this->method($t); }, new Shape, Shape::class)($s); },
    'output' => function ($s) { ob_start(function ($text) use ($s) { inner($s); return ''; }); echo 'x'; ob_end_flush(); },
    'except' => function ($s) { raise_and_catch($s); },
    'depth20' => function ($s) { recurse(20, $s); },
    'depth20c' => function ($s) { recurse_through_c(20, $s); },
];
if (function_exists('pcntl_fork'))
    $steps['fork'] = function ($s) { forked($s); };
if (PHP_VERSION_ID >= 80100) {
    $steps['fiber'] = function ($s) { (new Fiber('middle'))->start($s); };
    $steps['callable'] = eval('return function ($s) { $f = middle(...); $f($s); };');
}
$others = [
    'deep' => function ($s) { recurse(1000, $s); },
    'delegate' => function ($s) { iterate(delegating($s)); },
];
foreach ($chosen ?? array_keys($steps) as $step)
    ($steps[$step] ?? $others[$step])($step);
unlink($included);
