/* What the files callgrind-*.gz were recorded of: `gcc -g -O1 callgrind.c -o shop`, see README.md. */
#include <stdlib.h>

static inline __attribute__((always_inline)) int inlined(int x)
{
	int r = 0;

	for (int i = 0; i < 10; i++)
		r += x * i;
	return r;
}

__attribute__((noipa)) int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__attribute__((noipa)) int leaf(int n)
{
	int s = 0;

	for (int i = 0; i < n; i++)
		s += inlined(i);
	return s;
}

__attribute__((noipa)) int a(int n)
{
	return leaf(n) + 1;
}

__attribute__((noipa)) int b(int n)
{
	return leaf(3 * n) + 2;
}

__attribute__((noipa)) int odd(int n);

__attribute__((noipa)) int even(int n)
{
	return n == 0 ? leaf(5) : odd(n - 1) + 1;
}

__attribute__((noipa)) int odd(int n)
{
	return n == 0 ? leaf(7) : even(n - 1) + 1;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 8;

	return (fib(n) + a(10 * n) + b(10 * n) + even(9)) & 1;
}
