/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tells frames at which a thread stops to run its program, by their names. */
#include "profile/interrupts.h"

#include "profile/activity.h"

#include <string.h>

/*
 * Functions at which an interrupt arrives, on x86-64 (since Linux 5.8, and earlier) and aarch64, and those in which the
 * scheduler takes the CPU from a thread that runs in the kernel; and those in which tracepoints and BPF programs of
 * recorders run, such as Kelvin's own that measures waits. Exceptions that the thread itself causes
 * (`asm_exc_page_fault`) are not among them.
 */
static const char *const *const entries = GLOBS("asm_sysvec_*", "sysvec_*", "asm_common_interrupt", "common_interrupt",
	"asm_spurious_interrupt", "asm_exc_nmi*", "apic_timer_interrupt", "smp_apic_timer_interrupt",
	"reschedule_interrupt", "call_function_interrupt", "call_function_single_interrupt", "irq_work_interrupt",
	"ret_from_intr", "do_IRQ", "xen_hvm_callback_vector", "xen_evtchn_do_upcall", "hyperv_callback_vector",
	"el[01]*_irq", "el[01]*_fiq", "el[01]_interrupt", "preempt_schedule*", "__cond_resched*", "__traceiter_*",
	"bpf_trace_run*");

/* Functions on the way back to user mode. */
static const char *const *const returns = GLOBS("exit_to_user_mode_loop", "exit_to_user_mode_prepare",
	"exit_to_usermode_loop", "prepare_exit_to_usermode", "irqentry_exit_to_user_mode", "syscall_exit_to_user_mode",
	"do_syscall_64", "do_notify_resume", "retint_user", "el0_svc");

/* Returns whether a function may be the kernel's. Files of other tools may not say it. */
static bool may_be_kernel(const char *module)
{
	return module[0] == '\0' || strncmp(module, "[kernel", 7) == 0;
}

enum profile_interrupt profile_interrupt_of(const char *name, const char *module)
{
	if (profile_activity_of_frame(name, module) == PROFILE_ACTIVITY_COMPILATION)
		return PROFILE_INTERRUPT_COMPILER;
	if (!may_be_kernel(module))
		return PROFILE_INTERRUPT_NONE;
	if (strcmp(name, "schedule") == 0)
		return PROFILE_INTERRUPT_SCHEDULE;
	if (glob_matches_any(entries, name))
		return PROFILE_INTERRUPT_ENTRY;
	return glob_matches_any(returns, name) ? PROFILE_INTERRUPT_RETURN : PROFILE_INTERRUPT_NONE;
}
