# The process that test_python_codes.c reads: it tells about its own code objects what is to be found. Each line of
# its output has words between tabs; text is hexadecimal UTF-8.
import os
import sys
import types

SOURCE = '''
def plain(a, b=1, *c, d, **e):
    x = [i for i in range(3)]

    y = sorted(x,
        key=lambda v:
            -v)
    if a:
        return (x
            + y)
    for z in x:
        try:
            pass
        except ValueError as error:
            print(error)
        finally:
            y = None
    return {i: j for i, j in zip(x, x)}
def outer():
    def inner():
        class Local:
            def deep(self): return 1
        return Local
    return inner
class S:
    attribute = 1
    def run(self): yield 1; yield 2
    @staticmethod
    async def later():
        async with x as y:
            await y
        return [i async for i in y]
    @property
    def größe(self): return 1
    def имя(self): return lambda: 1
    def 名前(self): return 2
    def 𠀀𠀁(self): return 3
''' + '\n' * 5000 + '''
def far(): return [
    1, 2,


    plain]
def backwards(x):
    return (x.
        a(
            1)
        .b(2))
def ''' + 'n' * 3000 + '''(): pass
def long():
''' + ''.join('    x = %d + y\n' % i for i in range(3000)) + 'def ' + 'é' * 600 + '(): pass\n'


def text(string):
    return string.encode('utf-8', 'replace').hex() or '-'


def tell(*words):
    print(*words, sep='\t', flush=True)


def tell_code(code):
    lines = ','.join(str(position[0] or 0) for position in code.co_positions())
    tell('code', id(code), code.co_firstlineno, text(code.co_qualname), text(code.co_filename), lines)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            tell_code(constant)


def tell_image():
    with open('/proc/self/maps', encoding='utf-8', errors='replace') as maps:
        mappings = [line.split() for line in maps]
    files = [mapping for mapping in mappings if len(mapping) == 6 and mapping[1] == 'r-xp']
    own = os.path.realpath('/proc/self/exe')
    library = [mapping for mapping in files if os.path.basename(mapping[5]).startswith('libpython')]
    start, _, offset = (library or [mapping for mapping in files if mapping[5] == own])[0][:3]
    path = (library or [[own]])[0][-1]
    tell('image', os.getpid(), start.split('-')[0], offset, text(path))


# The frames from here on, the innermost first, and how often C code has called the loop.
def wait(activations):
    frame = sys._getframe()
    frames = []
    while frame:
        frames.append('%d:%d' % (id(frame.f_code), frame.f_lasti // 2))
        frame = frame.f_back
    tell('frames', activations, ','.join(frames))
    return sys.stdin.readline().strip()


class Waiting:
    def __init__(self, depth):
        self.depth = depth

    def __lt__(self, other):
        return self.call(self.depth)

    def call(self, depth):
        self.answer = self.call(depth - 1) if depth else wait(2)
        return self.answer


def wait_below_c():
    waiting = Waiting(40)
    sorted([waiting, waiting])
    return waiting.answer


# Code objects at the same addresses as others before, as far as the allocator gives them.
def reuse():
    for i in range(64):
        scope = {}
        exec(compile('def first_%d(): return 1' % i, 'first.py', 'exec'), scope)
        code = scope['first_%d' % i].__code__
        tell('before', id(code), code.co_firstlineno, text(code.co_qualname), text(code.co_filename), '0')
        if sys.stdin.readline().strip() != 'again':
            break
        address = id(code)
        del scope, code
        made = []
        while not made or id(made[-1]) != address and len(made) < 200:
            exec(compile('\n\ndef second_%d(): return 1' % i, 'second.py', 'exec'), scope := {})
            made.append(scope['second_%d' % i].__code__)
        code = made[-1]
        tell('after', id(code), code.co_firstlineno, text(code.co_qualname), text(code.co_filename), '0')


tell_image()
kept = []
for name in ('/srv/w.py', '/srv/größe/файл.py', '/' + 'long/' * 500 + 'w.py', ''):
    kept.append(compile(SOURCE, name, 'exec'))
    tell_code(kept[-1])
tell('end')
command = wait(1)
while command:
    if command == 'c':
        command = wait_below_c()
    elif command == 'reuse':
        reuse()
        command = wait(1)
    else:
        tell_code(next(constant for constant in kept[0].co_consts if isinstance(constant, types.CodeType)))
        command = sys.stdin.readline().strip()
