/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Adds up the waits of threads, and writes samples of them (sampler/ebpf/waiting.h).
 *
 * All times are added up at the switch itself, from the thread that leaves the CPU to the one that gets it. The hooks,
 * which run in the context of the latter, only write a sample when a sum is due: a hook that never comes loses nothing.
 *
 * A thread's entry is written by the switch that takes its CPU away, by who lets it go on, and by the switch that gives
 * it a CPU, one after the other; only the program that charges a thread for a wait that lasts may meet the end of that
 * very wait on another CPU. It would then be charged twice for what it had waited since the last visit. That takes
 * two writes within some 50 ns of each other, once in a second.
 */
#define SAMPLES_WAITS 1

#include "sampler/ebpf/account.h"
#include "sampler/ebpf/frame_reader_returns.h"
#include "sampler/ebpf/process_set_map.h"
#include "sampler/ebpf/waiting_shared.h"

#include <bpf/bpf_core_read.h>

/* The members of the kernel's structs that are read here; libbpf finds their places in the running kernel (CO-RE). */
struct files_struct;

struct task_struct {
	void *stack;
	int pid, tgid;
	unsigned int flags;
	struct files_struct *files;
	unsigned int __state;
} __attribute__((preserve_access_index));

/* The struct before Linux 5.14. */
struct task_struct___before_5_14 {
	long state;
} __attribute__((preserve_access_index));

/* The tracepoint of switches since Linux 5.18. */
typedef void (*btf_trace_sched_switch)(
	void *data, _Bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int prev_state);

struct sigaction {
	void *sa_handler;
} __attribute__((preserve_access_index));

struct k_sigaction {
	struct sigaction sa;
} __attribute__((preserve_access_index));

struct bpf_iter_meta {
	struct seq_file *seq;
} __attribute__((preserve_access_index));

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} __attribute__((preserve_access_index));

/* linux/sched.h */
enum { TASK_NORMAL = 0x3, TASK_DEAD = 0x80, PF_KTHREAD = 0x200000 };

enum { WINDOW_NS = 100000000, OVERDUE_INTERVALS = 4, MAX_CPUS = 8192, MAX_REGISTER_BYTES = WAITING_REGISTERS * 8 };

const char LICENSE[] SEC("license") = "GPL";

/* ---- What the recorder sets ---- */

const volatile _Bool has_set; /* only processes of the set are of the target */
const volatile __u32 only_tid;
const volatile __u32 register_bytes, call_offset, argument_offsets[2]; /* in the kernel's struct pt_regs */
const volatile __u32 most_in_window;
const volatile __u32 switch_room; /* a power of 2: switches in the ring of a CPU; 0: they are not written */

__u64 interval = 1; /* nanoseconds */
__u64 enabled_at;   /* 0: nothing counts now */
_Bool shows;        /* the iterator shows threads that are to be charged; otherwise it only meets them */

/* ---- State ---- */

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, MAX_CPUS);
	__type(key, __u32);
	__type(value, __u32);
} rings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct waiting_counters);
} counters SEC(".maps");

struct account_shares thread_shares = { .most = WAITING_MOST_THREADS };

/* Samples since the window began. CPUs that begin one together count some samples for none. */
__u64 window_since, window_waits, window_releases;

/* The beginning of struct ebpf_sleeper. One visit at a time uses it. */
struct {
	struct ebpf_wait wait;
	__u64 waits;
	__u64 registers[WAITING_REGISTERS];
} sleeper;

/* The thread that is to be charged, and how it was. */
struct {
	struct ebpf_wait wait;
	__u64 waits;
} charged;

#define COUNT(counter) COUNT_MORE(counter, 1)
#define COUNT_MORE(counter, more)                                                                                      \
	do {                                                                                                           \
		__u32 zero = 0;                                                                                        \
		struct waiting_counters *mine = bpf_map_lookup_elem(&counters, &zero);                                 \
                                                                                                                       \
		if (mine)                                                                                              \
			mine->counter += (more);                                                                       \
	} while (0)

#include "sampler/ebpf/waiting_interrupts.h"
#include "sampler/ebpf/waiting_peers.h"
#include "sampler/ebpf/waiting_switches.h"
#include "sampler/ebpf/waiting_threads.h"

/* ---- Threads of the target ---- */

static inline _Bool is_of_target(__u32 tgid, __u32 tid)
{
	if (tid == 0 || (only_tid && tid != only_tid))
		return 0;
	return !has_set || bpf_map_lookup_elem(&processes, &tgid) != (void *)0;
}

static inline __u64 random_below(__u64 limit)
{
	__u64 number = ((__u64)bpf_get_prandom_u32() << 32) | bpf_get_prandom_u32();

	return limit ? number % limit : 0;
}

/*
 * Fits a thread's sums to the interval, before time is added to them. A wait is charged its time on average because a
 * sum stands anywhere in its interval, whatever the wait; so it must in the new one, which is a multiple or a part of
 * the old one. In a longer one a sum goes on from anywhere: otherwise all threads would be short of a sample until they
 * have made up for the difference, and then come together. In a shorter one it goes on from where it stands in a part:
 * otherwise the next wait would be charged for whole intervals that it has not waited. Whole old intervals in a sum are
 * time that the budget has put off, and stay.
 */
static inline void fit_sums(struct waiting_thread *thread)
{
	__u64 length = interval, was = thread->interval;

	if (length == was || was == 0)
		return;
	for (int i = 0; i < WAITING_TIMES; i++) {
		__u64 part = thread->sums[i] % was;

		if (length > was)
			thread->sums[i] += was * random_below(length / was);
		else
			thread->sums[i] -= part - part % length;
	}
	thread->interval = length;
}

/* Makes the entry of a thread, if its account may have another one. Its sums begin anywhere in the interval. */
static inline struct waiting_thread *meet_thread(struct task_struct *task, __u32 tgid, __u32 tid)
{
	struct waiting_thread made = { .process = tgid, .interval = interval };

	made.payer = account_place((struct task_struct___account *)task);

	for (int i = 0; i < WAITING_TIMES; i++)
		made.sums[i] = random_below(made.interval);
	return enter_thread(tid, &made);
}

/* Kernel threads wait for work and nothing else. */
static inline _Bool is_kernel_thread(struct task_struct *task)
{
	return BPF_CORE_READ(task, flags) & PF_KTHREAD;
}

static inline __u32 state_of(struct task_struct *task)
{
	struct task_struct___before_5_14 *older = (void *)task;

	if (bpf_core_field_exists(task->__state))
		return BPF_CORE_READ(task, __state);
	return (__u32)BPF_CORE_READ(older, state);
}

/* ---- The times of a wait ---- */

struct times {
	__u64 of[WAITING_TIMES];
};

/* Returns how long a thread has waited by now. What was before the recording, or in a pause of it, does not count. */
static inline struct times times_of(const struct waiting_thread *thread, __u64 now)
{
	__u64 enabled = enabled_at, begin = thread->since, woken = thread->woken;
	struct times times = { { 0, 0 } };

	if (enabled == 0 || begin == 0)
		return times;
	if (begin < enabled)
		begin = enabled;
	if (thread->state == 0)
		woken = begin;
	else if (woken == 0 || woken > now)
		woken = now;
	if (woken < begin)
		woken = begin;
	if (now < woken)
		return times;
	times.of[WAITING_BLOCKED] = woken - begin;
	times.of[WAITING_QUEUED] = now - woken;
	return times;
}

static inline _Bool is_due(const struct waiting_thread *thread)
{
	__u64 length = thread->interval;

	return thread->sums[WAITING_BLOCKED] >= length || thread->sums[WAITING_QUEUED] >= length;
}

/*
 * No sum is put off beyond so many intervals, for what a thread has left when it ends is lost. As there is an interval
 * for each thread in the budget's time, all these samples together exceed it by a quarter at most.
 */
static inline _Bool is_overdue(const struct waiting_thread *thread)
{
	__u64 most = OVERDUE_INTERVALS * thread->interval;

	return thread->sums[WAITING_BLOCKED] >= most || thread->sums[WAITING_QUEUED] >= most;
}

/* Takes the whole intervals off a sum. */
static inline __u64 take_weight(struct waiting_thread *thread, enum waiting_time time)
{
	__u64 length = thread->interval, *sum = &thread->sums[time], weight;

	if (length == 0)
		return 0;
	weight = *sum / length * length;
	*sum -= weight;
	return weight;
}

/* The budget: what is beyond it stays in the sums. Those who end waits have half as much of their own. */
static inline _Bool window_has_room(__u64 now, const __u64 *samples, __u32 most)
{
	if (now - window_since >= WINDOW_NS) {
		window_since = now;
		window_waits = 0;
		window_releases = 0;
	}
	return *samples < most;
}

/* ---- Samples ---- */

/* Before Linux 5.15 no program may look for the registers of a thread. */
#define CAN_READ_REGISTERS bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs)

/* Reads the system call that a thread is in. */
static inline void read_call(const char *registers, struct ebpf_wait *wait)
{
	if (bpf_probe_read_kernel(&wait->system_call, sizeof(__u64), registers + call_offset) != 0)
		wait->system_call = EBPF_WAIT_NO_CALL;
	bpf_probe_read_kernel(&wait->arguments[0], sizeof(__u64), registers + argument_offsets[0]);
	bpf_probe_read_kernel(&wait->arguments[1], sizeof(__u64), registers + argument_offsets[1]);
}

static inline const char *registers_of_current(void)
{
	return CAN_READ_REGISTERS ? (const char *)bpf_task_pt_regs(bpf_get_current_task_btf()) : (const char *)0;
}

/*
 * Reads the frames of the current thread's interpreter, which the sample that comes next belongs to. They are written
 * before the sample is made: both need most of the 512 bytes that a program's stack has.
 */
static __always_inline void write_interpreted(void)
{
	write_current_returns(0);
	write_current_frames(1, registers_of_current(), 0);
}

static __always_inline _Bool write_sample(void *context, struct ebpf_wait *wait)
{
	const char *registers = registers_of_current();

	wait->system_call = EBPF_WAIT_NO_CALL;
	if (registers)
		read_call(registers, wait);
	wait->peer = wait->kind == EBPF_WAIT_END && wait->state ? peer_of_current(wait) : EBPF_PEER_UNKNOWN;
	if (bpf_perf_event_output(context, &rings, BPF_F_CURRENT_CPU, wait, sizeof(*wait)) != 0) {
		COUNT(lost);
		return 0;
	}
	COUNT(samples);
	__sync_fetch_and_add(wait->kind == EBPF_WAIT_RELEASE ? &window_releases : &window_waits, 1);
	return 1;
}

static inline void forget_wait(struct waiting_thread *thread)
{
	thread->last_sequence = 0;
	thread->last_state = 0;
}

/* ---- The end of a wait ---- */

/* The wait of a thread is over. */
static inline void add_wait(struct waiting_thread *thread, __u64 now)
{
	struct times times = times_of(thread, now);

	thread->since = 0;
	fit_sums(thread);
	for (int i = 0; i < WAITING_TIMES; i++) {
		thread->last[i] = times.of[i];
		thread->sums[i] += times.of[i];
	}
	/* A thread that is preempted on its way out of the kernel has waited twice when the hook comes. */
	if (thread->state) {
		thread->last_state = thread->state;
		thread->last_sequence = thread->sequence;
	}
}

/*
 * The current thread waits, as far as was told: not each switch is (seen with Linux 6.18 in a virtual machine, where
 * about one in a thousand is told by no tracepoint when it is busy). It has a CPU, since it is here.
 */
static inline void meet_end(struct waiting_thread *thread, __u32 tid)
{
	__u64 now = bpf_ktime_get_ns();

	add_wait(thread, now);
	write_switch(tid, 1, now);
}

/* Samples the wait of the current thread, which has time to be charged. */
static __always_inline int charge(void *context, __u64 hook, struct waiting_thread *thread, __u32 tid)
{
	struct ebpf_wait wait = { .kind = EBPF_WAIT_END, .hook = hook };

	wait.tid = tid;
	wait.process = thread->process;
	wait.state = thread->last_state;
	wait.sequence = thread->last_sequence;
	wait.blocked_ns = thread->last[WAITING_BLOCKED];
	wait.queued_ns = thread->last[WAITING_QUEUED];
	wait.blocked_weight_ns = take_weight(thread, WAITING_BLOCKED);
	wait.queued_weight_ns = take_weight(thread, WAITING_QUEUED);
	forget_wait(thread);
	if (!write_sample(context, &wait)) {
		thread->sums[WAITING_BLOCKED] += wait.blocked_weight_ns;
		thread->sums[WAITING_QUEUED] += wait.queued_weight_ns;
	}
	return 0;
}

/* The current thread has waited, and goes on. */
static __always_inline int charge_current(void *context, __u64 hook, _Bool is_last, _Bool with_frames)
{
	__u32 tid = bpf_get_current_pid_tgid();
	struct waiting_thread *thread;

	if (!is_last && is_settled(tid))
		return 0;
	thread = find_thread(tid);
	if (!thread)
		return 0;
	if (thread->since != 0)
		meet_end(thread, tid);
	if (!is_due(thread) || enabled_at == 0) {
		forget_wait(thread);
		return 0;
	}
	/* A thread that ends has no other time to be charged. */
	if (!is_last && !is_overdue(thread) && !window_has_room(bpf_ktime_get_ns(), &window_waits, most_in_window)) {
		COUNT(deferred);
		forget_wait(thread);
		return 0;
	}
	if (with_frames) {
		write_interpreted();
		/* Found again: kept over the walk, the verifier would follow that once for each way of finding it. */
		tid = bpf_get_current_pid_tgid();
		thread = find_thread(tid);
	}
	return !thread ? 0 : charge(context, hook, thread, tid);
}

/* ---- Switches ---- */

/* Forgets a thread: what no ring had room for, or the budget has put off, has no thread any more to be charged to. */
static inline void end_thread(__u32 tid)
{
	struct waiting_thread *thread = find_thread(tid);
	__u32 payer;

	if (!thread)
		return;
	payer = thread->payer;
	COUNT_MORE(lost_ns, take_weight(thread, WAITING_BLOCKED) + take_weight(thread, WAITING_QUEUED));
	remove_thread(tid, payer);
}

static inline void begin_wait(struct task_struct *task, __u32 state, __u64 now)
{
	__u32 tgid = task->tgid, tid = task->pid;
	struct waiting_thread *thread = find_thread(tid);

	/* Only threads of the target are met. */
	if (!thread && !is_of_target(tgid, tid))
		return;
	write_switch(tid, 0, now);
	if (state & TASK_DEAD) {
		end_thread(tid);
		return;
	}
	if (!thread && !is_kernel_thread(task))
		thread = meet_thread(task, tgid, tid);
	if (!thread)
		return;
	thread->state = state;
	thread->woken = 0;
	thread->sequence = 0;
	thread->waits++;
	thread->since = now;
	COUNT(switches);
}

static inline void end_wait(struct task_struct *task, __u64 now)
{
	__u32 tid = task->pid, zero = 0;
	struct waiting_thread *thread = find_thread(tid);
	struct given *given = bpf_map_lookup_elem(&last_given, &zero);

	/* No program has met a thread that has not left a CPU yet. */
	if (switch_room > 0 && (thread || is_of_target(task->tgid, tid)))
		write_switch(tid, 1, now);
	if (thread && thread->since != 0)
		add_wait(thread, now);
	if (thread && !is_due(thread))
		forget_wait(thread);
	if (given) {
		given->tid = tid;
		given->is_due = thread && is_due(thread);
	}
}

/* bool preempt, struct task_struct *prev, struct task_struct *next, and since Linux 5.18 the state of prev. */
SEC("tp_btf/sched_switch")
int switch_threads(__u64 *arguments)
{
	struct task_struct *prev = (struct task_struct *)arguments[1];
	struct task_struct *next = (struct task_struct *)arguments[2];
	__u64 now = bpf_ktime_get_ns();
	__u32 state = 0;

	/* A thread that another CPU wakes up at this very moment has another state already. */
	if (arguments[0] == 0)
		state = bpf_core_type_exists(btf_trace_sched_switch) ? (__u32)arguments[3] : state_of(prev);
	begin_wait(prev, state, now);
	end_wait(next, now);
	return 0;
}

/* ---- Releases ---- */

static __always_inline int sample_release(__u64 *arguments, struct waiting_thread *thread, __u32 tid)
{
	struct ebpf_wait wait = { .kind = EBPF_WAIT_RELEASE,
		.is_interrupt = is_interrupt(arguments),
		.tid = tid,
		.process = thread->process,
		.state = thread->state,
		.sequence = thread->woken };

	if (write_sample(arguments, &wait))
		thread->sequence = wait.sequence;
	return 0;
}

/* The current thread, or an interrupt that came while it ran, lets a thread go on: struct task_struct *task. */
static __always_inline int release(__u64 *arguments, _Bool with_frames)
{
	struct task_struct *task = (struct task_struct *)arguments[0];
	__u32 tid = task->pid;
	struct waiting_thread *thread = find_thread(tid);
	struct times times;
	__u64 now, id;

	if (!thread || thread->since == 0 || thread->woken || thread->state == 0)
		return 0;
	now = bpf_ktime_get_ns();
	thread->woken = now;
	times = times_of(thread, now);
	fit_sums(thread);
	if (thread->sums[WAITING_BLOCKED] + times.of[WAITING_BLOCKED] < thread->interval || enabled_at == 0)
		return 0;
	id = bpf_get_current_pid_tgid();
	if (!is_of_target(id >> 32, id) || !window_has_room(now, &window_releases, most_in_window / 2))
		return 0;
	if (with_frames) {
		write_interpreted();
		/* Found again: kept over the walk, the verifier would follow that once for each way of finding it. */
		tid = ((struct task_struct *)arguments[0])->pid;
		thread = find_thread(tid);
	}
	return !thread ? 0 : sample_release(arguments, thread, tid);
}

SEC("tp_btf/sched_waking")
int release_thread(__u64 *arguments)
{
	return release(arguments, 0);
}

SEC("tp_btf/sched_waking")
int release_thread_with_frames(__u64 *arguments)
{
	return release(arguments, 1);
}

/* ---- Hooks: one of the first three is loaded; where frames are written, that whose name says so ---- */

/* Since Linux 5.15 a program may ask for the function at whose entry it runs. */
#define CAN_READ_HOOK bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_func_ip)

/* Called at each switch while an event with attr.context_switch is open. */
SEC("fentry/__perf_event_task_sched_in")
int goes_on_fentry(void *context)
{
	return charge_current(context, CAN_READ_HOOK ? bpf_get_func_ip(context) : 0, 0, 0);
}

SEC("fentry/__perf_event_task_sched_in")
int goes_on_fentry_with_frames(void *context)
{
	return charge_current(context, CAN_READ_HOOK ? bpf_get_func_ip(context) : 0, 0, 1);
}

/* finish_task_switch, under the name that the compiler gave it. */
SEC("kprobe")
int goes_on_kprobe(void *context)
{
	return charge_current(context, 0, 0, 0);
}

SEC("kprobe")
int goes_on_kprobe_with_frames(void *context)
{
	return charge_current(context, 0, 0, 1);
}

/* Charges a wait on the thread's way to user code. */
SEC("raw_tp/rseq_update")
int goes_on_rseq(void *context)
{
	return charge_current(context, 0, 0, 0);
}

SEC("raw_tp/rseq_update")
int goes_on_rseq_with_frames(void *context)
{
	return charge_current(context, 0, 0, 1);
}

/*
 * Who is killed never comes back to user code: int signal, struct kernel_siginfo *info, struct k_sigaction *action.
 * Without a handler the signal ends, or stops, the process.
 */
static __always_inline int take_signal(struct bpf_raw_tracepoint_args *arguments, _Bool with_frames)
{
	struct k_sigaction *action = (struct k_sigaction *)arguments->args[2];

	return BPF_CORE_READ(action, sa.sa_handler) ? 0 : charge_current(arguments, 0, 1, with_frames);
}

SEC("raw_tp/signal_deliver")
int gets_signal(struct bpf_raw_tracepoint_args *arguments)
{
	return take_signal(arguments, 0);
}

SEC("raw_tp/signal_deliver")
int gets_signal_with_frames(struct bpf_raw_tracepoint_args *arguments)
{
	return take_signal(arguments, 1);
}

/* ---- Threads that are asleep ---- */

static inline _Bool sleeper_is_due(const struct waiting_thread *thread, const struct times *times)
{
	__u64 length = thread->interval;

	return thread->since != 0 && enabled_at != 0 &&
	       (thread->sums[WAITING_BLOCKED] + times->of[WAITING_BLOCKED] >= length ||
		       thread->sums[WAITING_QUEUED] + times->of[WAITING_QUEUED] >= length);
}

/* Tells of a thread that has time to be charged, and leaves that to whoever has seen its stack. */
static inline void show_sleeper(struct seq_file *seq, struct task_struct *task, struct waiting_thread *thread)
{
	struct times times = times_of(thread, bpf_ktime_get_ns());

	if (!CAN_READ_REGISTERS || !sleeper_is_due(thread, &times))
		return;
	sleeper.wait.tid = task->pid;
	sleeper.wait.process = thread->process;
	sleeper.waits = thread->waits;
	if (register_bytes <= MAX_REGISTER_BYTES) {
		const char *registers = (const char *)bpf_task_pt_regs(task);

		read_call(registers, &sleeper.wait);
		sleeper.wait.peer = descriptors_of(&sleeper.wait) == EBPF_READS_ONE
					    ? peer_of_descriptor(task, sleeper.wait.arguments[0])
					    : EBPF_PEER_UNKNOWN;
		bpf_probe_read_kernel(sleeper.registers, register_bytes, registers);
	}
	bpf_seq_write(seq, &sleeper, sizeof(sleeper));
}

SEC("iter/task")
int visit_thread(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	struct waiting_thread *thread;
	__u32 tid, tgid;

	if (!task)
		return 0;
	tid = task->pid;
	tgid = task->tgid;
	if (!is_of_target(tgid, tid))
		return 0;
	thread = find_thread(tid);
	if (!thread && !is_kernel_thread(task) && (state_of(task) & TASK_NORMAL)) {
		thread = meet_thread(task, tgid, tid);
		if (thread && thread->since == 0) {
			thread->state = state_of(task);
			thread->since = bpf_ktime_get_ns();
		}
		return 0;
	}
	if (thread && shows)
		show_sleeper(context->meta->seq, task, thread);
	return 0;
}

/*
 * Charges the thread of `charged` for its wait up to now, when this is still the one that was shown. Runs when the
 * process asks for it (BPF_PROG_TEST_RUN), and returns whether it was.
 */
SEC("syscall")
int charge_sleeper(void *context)
{
	struct waiting_thread *thread = find_thread(charged.wait.tid);
	__u64 now = bpf_ktime_get_ns();
	struct times times;

	if (!thread || thread->waits != charged.waits)
		return 0;
	times = times_of(thread, now);
	fit_sums(thread);
	if (!sleeper_is_due(thread, &times))
		return 0;
	thread->since = now;
	if (thread->woken)
		thread->woken = now;
	for (int i = 0; i < WAITING_TIMES; i++)
		thread->sums[i] += times.of[i];
	charged.wait.kind = EBPF_WAIT_OPEN;
	charged.wait.state = thread->state;
	charged.wait.blocked_ns = times.of[WAITING_BLOCKED];
	charged.wait.queued_ns = times.of[WAITING_QUEUED];
	charged.wait.blocked_weight_ns = take_weight(thread, WAITING_BLOCKED);
	charged.wait.queued_weight_ns = take_weight(thread, WAITING_QUEUED);
	COUNT(samples);
	return 1;
}
