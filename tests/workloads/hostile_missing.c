/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that never arrives: whoever reads it waits for a program that does not answer. */
#include "hostile.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096, PAGES = 64, HERE = 32 };

/*
 * Memory of which only the page HERE is there: whoever reads the others waits for this process, which has no thread
 * that provides them. Where users may not keep the kernel waiting, root's descriptor is kept.
 */
static uint8_t *missing_memory(int protection)
{
	struct uffdio_api api = { .api = UFFD_API };
	int waiting = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	uint8_t *memory = mmap(NULL, (size_t)PAGES * PAGE_BYTES, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	struct uffdio_register range = { .range = { (uintptr_t)memory, (size_t)PAGES * PAGE_BYTES },
		.mode = UFFDIO_REGISTER_MODE_MISSING };

	if (waiting < 0)
		hostile_lacks("userfaultfd(2), or the right to call it");
	if (memory == MAP_FAILED || ioctl(waiting, UFFDIO_API, &api) != 0)
		hostile_fail("UFFDIO_API");
	memory[(size_t)HERE * PAGE_BYTES] = 0;
	/* The page that was touched is there. All are kept back together, so that they stay one mapping. */
	if (ioctl(waiting, UFFDIO_REGISTER, &range) != 0)
		hostile_fail("UFFDIO_REGISTER");
	return memory;
}

void hostile_missing_code(void)
{
	uint8_t *code = missing_memory(PROT_READ | PROT_WRITE | PROT_EXEC) + (size_t)HERE * PAGE_BYTES;

	memcpy(code, hostile_code, hostile_code_bytes);
	hostile_become_nobody();
	hostile_ready();
	hostile_run(code);
}

/*
 * Never returns: works on a stack of which the next page is missing, and says that its caller's frame lies there.
 */
__asm__(".pushsection .text\n"
	".type hostile_on_stack, @function\n"
	"hostile_on_stack:\n"
	"	.cfi_startproc\n"
	"	mov %rdi, %rsp\n"
	"	.cfi_def_cfa_offset 12288\n"
	"1:	dec %rcx\n"
	"	jmp 1b\n"
	"	.cfi_endproc\n"
	".size hostile_on_stack, . - hostile_on_stack\n"
	".popsection\n");
__attribute__((noreturn)) void hostile_on_stack(void *stack_pointer);

void hostile_missing_stack(void)
{
	uint8_t *memory = missing_memory(PROT_READ | PROT_WRITE);

	hostile_become_nobody();
	hostile_ready();
	hostile_on_stack(memory + (size_t)(HERE + 1) * PAGE_BYTES - 64);
}
