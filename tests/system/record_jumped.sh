#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Code made at run time that runs in the frame of what jumped to it and jumps back in the end, as traces of LuaJIT do: its caller is
# looked for in the stack, where earlier calls left their return addresses as well.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
needs gcc
cat >jumped.c <<'END'
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static volatile unsigned long sink;

__attribute__((noinline)) int noise(int depth)
{
	volatile char room[64];

	room[0] = (char)depth;
	return depth > 1 ? noise(depth - 1) + room[0] : room[0];
}

void enter(const void *code);
__asm__("enter:\n"
	".cfi_startproc\n"
	"push %rbx\n"
	".cfi_adjust_cfa_offset 8\n"
	"sub $" ROOM ", %rsp\n"
	".cfi_adjust_cfa_offset " ROOM "\n"
	"lea 1f(%rip), %rbx\n"
	"jmp *%rdi\n"
	"1: add $" ROOM ", %rsp\n"
	".cfi_adjust_cfa_offset -" ROOM "\n"
	"pop %rbx\n"
	".cfi_adjust_cfa_offset -8\n"
	"ret\n"
	".cfi_endproc\n");

/* mov $1000000,%eax; 1: dec %eax; jnz 1b; jmp *%rbx */
static const unsigned char made[] = { 0xb8, 0x40, 0x42, 0x0f, 0, 0xff, 0xc8, 0x75, 0xfc, 0xff, 0xe3 };

__attribute__((noinline)) void host(const void *code)
{
	sink += (unsigned long)noise(12);
	enter(code);
	sink++;
}

int main(void)
{
	unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(code, made, sizeof(made));
	while (clock() < CLOCKS_PER_SEC / 4)
		host(code);
	return 0;
}
END

# Among what is left over are frames of the loader's resolver of functions. Which of its variants ran depends on the CPU, and with it how
# much of the stack it took; the loader can be told to leave features of the CPU alone, and the code's frame be of another size. Where a frame
# that is left over may be alive as well, the stack is cut, and says so: with which sizes that is so is the CPU's. What is called whole is right
# with each, and most sizes are told.
made='//anon[^;]*(;[^;]*_\\[k\\])*[0-9 ]*$'
decided=0
for room in 0x400 0x800 0x1000; do
	gcc -O1 -g -fomit-frame-pointer "-DROOM=\"$room\"" jumped.c -o jumped
	for features in "" -XSAVEC -XSAVEC,-XSAVE; do
		what="code that was jumped to, in a frame of $room bytes, with '$features'"
		run 0 env GLIBC_TUNABLES="glibc.cpu.hwcaps=$features" "$KELVIN" record -F 2991 -o whole.pb.gz -- ./jumped
		whole=$(sed -n 's/.* \([0-9]*\)[.0-9]* % whole stacks/\1/p' stderr)
		all=$(samples_in whole.pb.gz ";$made")
		at_least "$all" 200 "samples of $what"
		at_least $((100 * $(samples_in whole.pb.gz ";main;host;$made") / all)) $((whole * 95 / 100)) "share of right stacks of $what"
		decided=$((decided + (whole >= 99)))
	done
done
at_least "$decided" 5 "frames of 9 whose stacks are whole"
