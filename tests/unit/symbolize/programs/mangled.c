/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Linkage names as C++ has them that no demangler takes, as those are that stand for too much; and one that is C's. */

__attribute__((noinline)) int one(int a) __asm__("_ZN3one");
__attribute__((noinline)) int two(int a) __asm__("__GI_two");

int one(int a)
{
	return a * 3;
}

#line 10 "C:\\src\\two.c"
int two(int a)
{
	return a * 5;
}

int main(int argc, char **argv)
{
	(void)argv;
	return one(argc) + two(argc);
}
