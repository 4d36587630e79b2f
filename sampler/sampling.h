/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/recording.h"

#include <sys/types.h>

/*
 * The way from a target to a profile of addresses: perf events, rings, process maps, unwinding.
 *
 *	sampler_create()   checks the target, opens the events (disabled), reads the maps
 *	sampler_start()    enables them; a command starts to run
 *	sampler_poll()     drains the rings; called in a loop by the owner, who decides when to stop
 *	sampler_finish()   disables, drains the rest, and hands over the profile
 *
 * One thread drives a sampler. It installs no signal handlers and prints nothing. No byte of the target's stack is
 * kept.
 */
struct sampler;

enum sampler_target_kind {
	SAMPLER_TARGET_PIDS,    /* processes: all threads and children followed */
	SAMPLER_TARGET_TID,     /* one thread */
	SAMPLER_TARGET_COMMAND, /* a command started by us, sampled from its exec on */
	SAMPLER_TARGET_SYSTEM,  /* every process on every CPU */
	SAMPLER_TARGET_CGROUP,  /* every process of a control group */
};

struct sampler_target {
	enum sampler_target_kind kind;
	const pid_t *pids; /* PIDS: pid_count of them; TID: one */
	size_t pid_count;
	char *const *command; /* COMMAND: argv, NULL-terminated */
	const int *streams;   /* COMMAND: CHILD_STREAMS, for child_take_streams(); NULL: ours */
	/* COMMAND: called in the child before its exec, with `entering`; false with errno: it is not executed. NULL:
	 * none */
	bool (*enter)(void *entering);
	void *entering;
	const char *cgroup_path; /* CGROUP: below /sys/fs/cgroup, or absolute */
};

enum sampler_call_graph { SAMPLER_CALL_GRAPH_DWARF, SAMPLER_CALL_GRAPH_FP };

enum { SAMPLER_DEFAULT_OFF_CPU_MS = 10 };
enum { SAMPLER_DEFAULT_FREQUENCY_HZ = 997, SAMPLER_DEFAULT_STACK_BYTES = 16384 };

struct sampler_label {
	const char *key, *value;
};

struct sampler_options {
	struct sampler_target target;
	const char *event;     /* perf's name; NULL: cycles, or cpu-clock where the machine counts none */
	uint32_t frequency_hz; /* 0: the default */
	enum sampler_call_graph call_graph;
	uint32_t stack_bytes;   /* size of the stack copy per sample, a multiple of 8; 0: the default, adapted to the
				   target */
	bool without_real_time; /* the recorder does not ask for the real-time class, only for a better nice value */
	bool start_disabled;    /* events stay off until sampler_set_enabled() */
	const char *part_path;  /* increments of the profile for recovery, written every second; the caller removes it;
				   NULL: none */
	bool native_only;       /* no frames of interpreters */
	bool no_arguments;      /* of a command only the program is named in the profile: its arguments may be secret */
	const char *tool;       /* name and version for the profile's facts */
	uint32_t verify_every;  /* one stack in so many is also unwound by libunwind; 0: none */
	const char *counters;   /* events that are counted beside, by perf's names and separated by commas; "": those of
				   the processor that tell what holds functions up; NULL: none */
	uint64_t off_cpu_ns;    /* waits are sampled too: the mean waiting time that a sample stands for; 0: they are
				   not */
	bool elapsed;           /* where the elapsed time went is recorded too; needs off_cpu_ns, and no -a */
	/*
	 * The target's work is measured (profile/requests.h): the exchanges on its sockets are counted, where that is
	 * permitted, or one of these holds.
	 */
	bool no_requests;                   /* nothing is counted */
	uint64_t stated_requests;           /* their number; 0: it is not stated */
	const char *work_event;             /* an event is counted in their place (sampler/live/work.h); NULL: none */
	const struct sampler_label *labels; /* borrowed: of the profile, in place of what the target says of itself */
	size_t label_count;
};

/*
 * Fails, with a message that names the target and the next step, when it is not there (ERROR_NOT_FOUND), may not be
 * sampled (ERROR_PERMISSION), or is of a kind that cannot be (ERROR_UNSUPPORTED: 32-bit processes). For a command: the
 * child exists after this, stopped before its exec. Its exec errors come from sampler_start().
 *
 * The calling process leaves no core file from then on (rights_undumpable()), as it will hold copies of others' stacks.
 * The command has its user's own limit.
 */
COMMON_MUST_CHECK
bool sampler_create(const struct sampler_options *options, struct sampler **sampler, struct error *err);

/* Kills and reaps a command that was never started; does not stop a running one. */
void sampler_destroy(struct sampler *sampler);

static inline void sampler_cleanup(struct sampler **sampler)
{
	sampler_destroy(*sampler);
}

/* A command that cannot be executed: ERROR_NOT_FOUND (127) or ERROR_PERMISSION (126), system_errno set. */
COMMON_MUST_CHECK
bool sampler_start(struct sampler *sampler, struct error *err);

/* Turns sampling on or off, while running: --control and --delay. */
COMMON_MUST_CHECK
bool sampler_set_enabled(struct sampler *sampler, bool enabled, struct error *err);

/* perf's name of the event that is sampled; borrowed. */
const char *sampler_event(const struct sampler *sampler);

enum sampler_state {
	SAMPLER_RUNNING,
	SAMPLER_TARGET_GONE, /* every process of the target has exited */
	SAMPLER_DISK_FULL, /* the recovery file cannot be written any more; the owner should stop and keep the recording
			    */
};

/* Counts for a progress line; all counts are since the start. */
struct sampler_progress {
	enum sampler_state state;
	uint64_t samples, lost, throttled;
	int64_t elapsed_ns;
	uint32_t processes, threads; /* running, as far as known */
};

/*
 * Waits at most `timeout_ms` for samples, or for readiness of `wake_fd` (a control fifo, a signalfd; -1: none), drains
 * the rings and returns. A signal that interrupts the wait is not an error.
 */
COMMON_MUST_CHECK
bool sampler_poll(
	struct sampler *sampler, int timeout_ms, int wake_fd, struct sampler_progress *progress, struct error *err);

/*
 * Tells that the recording ends here because of a failure, such as one of sampler_poll(): sampler_finish() then hands
 * over what was recorded until then, with the reason in result->ended_early. The first reason is kept.
 */
void sampler_end_early(struct sampler *sampler, const struct error *why);

/*
 * Stops sampling and hands over what was recorded. `notices` (may be NULL) gets lines for the user, each with its
 * newline: sampling restricted to user code, a smaller ring, a mapping that could not be read. No sample at all is
 * ERROR_EMPTY, with the reason: the target slept (its CPU time during the recording), exited, was not permitted; of a
 * recording that ended early, the reason for that. Of the result only `child_status` is then set, and only of a command
 * that has ended.
 */
COMMON_MUST_CHECK
bool sampler_finish(struct sampler *sampler, struct recording *result, struct buffer *notices, struct error *err);

/* ---- perf.data ---- */

/*
 * Reads a perf.data file, of file or pipe mode (`perf record`, also with -z), as if its records came from our rings:
 * the same parser, unwinding and quality counts. Binaries are found by path and build id, else in the cache; one that
 * is another build now stays without names, which a notice says. Of several events the one that is asked for, or the
 * first that has samples, is taken; the others are named in a notice. Memory grows with the profile, not with the file.
 * ERROR_FORMAT names the offset; ERROR_UNSUPPORTED: another byte order, another machine's registers, one file alone of
 * `perf record --threads`. ERROR_EMPTY: no samples.
 */
COMMON_MUST_CHECK
bool sampler_read_perf_data(
	const struct recording_file *file, struct recording *recording, struct buffer *notices, struct error *err);

/* ---- Recordings that were killed ---- */

/*
 * Reads what a recorder that was killed has left (sampler_options.part_path): everything up to the last increment that
 * was written whole. Binaries are found as for perf.data.
 */
COMMON_MUST_CHECK
bool sampler_read_part(
	const struct recording_file *recorded, struct recording *result, struct buffer *notices, struct error *err);

/* ---- Simulations: kelvin simulate ---- */

/* One execution of a command under the tool `kelvin` of valgrind. Strings are borrowed. */
struct sampler_simulated {
	const char *directory; /* where each of its processes has left its files (sampler/simulated/format.h), and perf
				  maps */
	const char *command;   /* for the profile's facts */
	const char *tool;      /* name and version, likewise */
	const struct sampler_label *labels;
	size_t label_count;
	struct profile_run run; /* the execution, without a name */
};

/*
 * A simulation makes its profile in two steps, since it counts more instructions than one wants to have apart.
 *
 * sampler_simulation_read() hands over a profile without samples: all instructions that were executed, and all call
 * sites, are its locations. They are named as those of any other profile.
 *
 * sampler_simulation_count() then puts the profile itself in its place. Its samples are the lines of a context:
 * instructions of one context with the same frames are one sample, and call sites with the same frames are one frame.
 * It has one run for the execution, and one more for each name that the program gave to parts of it. Counts that were
 * made before the first such part, or after the last one, belong to the execution's run. A part "Metadata: NAME
 * VERSION" is how a benchmark harness says what it is: it becomes the fact `harness`.
 */
struct sampler_simulation;

/*
 * ERROR_EMPTY: no process has left a file. ERROR_FORMAT names the file and the offset. `notices` get lines about files
 * that ended early, and code whose file is not there. `simulation` is the caller's.
 */
COMMON_MUST_CHECK
bool sampler_simulation_read(const struct sampler_simulated *simulated, struct sampler_simulation **simulation,
	struct recording *result, struct buffer *notices, struct error *err);
COMMON_MUST_CHECK
bool sampler_simulation_count(
	struct sampler_simulation *simulation, struct recording *result, struct buffer *notices, struct error *err);
void sampler_simulation_destroy(struct sampler_simulation *simulation);

/* ---- What this machine allows: kelvin doctor ---- */

struct sampler_capabilities {
	int perf_event_paranoid; /* -1 when it cannot be read */
	int perf_event_mlock_kb;
	int perf_event_max_sample_rate;
	bool has_hardware_cycles;
	bool has_cpu_clock;
	bool can_sample_own;    /* own processes, user code */
	bool can_sample_kernel; /* kernel code too */
	bool can_sample_others; /* other users' processes */
	bool can_sample_system; /* whole CPUs, as -a and --cgroup do */
	bool kernel_symbols_readable;
	bool map_files_readable;  /* deleted files can be opened */
	const char *waits_hook;   /* "fentry", "kprobe", "rseq": where waits are sampled; NULL: they cannot be */
	struct error no_waits;    /* why, with what would help */
	bool can_count_requests;  /* exchanges on sockets */
	struct error no_requests; /* why not, with what would help */
	bool can_read_python;     /* functions of CPython are shown, as those of node and HotSpot always are */
	struct error no_python;   /* why not, with what would help */
	const char *counters;     /* "topdown", "raw counters": what tells of bottlenecks; NULL: there are none */
	struct error no_counters; /* why */
	uint64_t descriptor_limit;
};

/*
 * Checks whether the text is an event as sampler_options.work_event names one; it need not be there. ERROR_USAGE: it
 * is none.
 */
COMMON_MUST_CHECK
bool sampler_check_work_event(const char *text, struct error *err);

void sampler_probe(struct sampler_capabilities *capabilities);

/* What a profiler may do on this machine or not, in words, and what allows it. */
enum { SAMPLER_MOST_FINDINGS = 20 };
struct sampler_finding {
	const char *what; /* static: "own processes"; NULL: `text` is of the machine, or "" */
	bool is_good;
	char text[256];
	char command[ERROR_MESSAGE_SIZE + 64]; /* "": there is nothing to do; without an effect, what is in the way */
	const char *effect;                    /* static: what is to be known of the command; NULL: it is none */
};

/* Sets the findings, in the order in which they are told; returns their number. */
size_t sampler_advise(
	const struct sampler_capabilities *capabilities, struct sampler_finding findings[static SAMPLER_MOST_FINDINGS]);
