/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Code as assemblers write it that are not told what a function is: plain labels, some of them within functions. */
	.text
	.globl	main
	.type	main, @function
main:
	nop
within:
	xorl	%eax, %eax
	ret
	.size	main, .-main
	.balign	16
after_main:
	nop
	nop
	ret
	.globl	global_label
global_label:
	nop
global_label.loop:
	nop
	ret
	.data
data_label:
	.quad	0
	.section .elsewhere, "", @progbits
	.space	0x100000
elsewhere_label:
	.section .note.GNU-stack, "", @progbits
