/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions at one address: as a linker that folds leaves them, and aliases. */

unsigned long shared_code(unsigned long n);
unsigned long plain_code(unsigned long n);

__attribute__((noinline)) unsigned long shared_code(unsigned long n)
{
	return n * 3 + 1;
}

__attribute__((noinline)) unsigned long plain_code(unsigned long n)
{
	return n * 5 + 2;
}

#define SAME(bind, name, as) __asm__(bind " " name "\n.type " name ", @function\n.set " name ", " as)

/* Zebra::a(), Avatar::render(), Invoice::total() and a copy of it; the constructors of Crate, and aliases. */
SAME(".weak", "_ZN5Zebra1aEv", "shared_code");
SAME(".globl", "_ZN7Invoice5totalEv", "shared_code");
SAME(".local", "_ZN7Invoice5totalEv.isra.0", "shared_code");
SAME(".weak", "_ZN6Avatar6renderEv", "shared_code");
SAME(".globl", "_ZN5CrateC1Ev", "plain_code");
SAME(".globl", "_ZN5CrateC2Ev", "plain_code");
SAME(".weak", "code", "plain_code");
SAME(".globl", "__GI_code", "plain_code");

#ifdef FOLDING
SAME(".globl", "other_code", "plain_code");
SAME(".globl", "_ZN4Many1aEv", "shared_code");
__asm__(".section .comment,\"MS\",@progbits,1\n.string \"Linker: LLD 14.0.6\"\n.text");
#endif

int main(int count, char **arguments)
{
	(void)arguments;
	return (int)(shared_code((unsigned long)count) + plain_code((unsigned long)count));
}
