/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"

#include <sys/types.h>

/*
 * What `kelvin watch` does when: which processes its target is at the moment, whether they run another build than
 * before, and which of the files of its directory are kept. It samples nothing and draws nothing: `cli/` does.
 *
 * The directory is all that a watch knows of its past. Each profile tells by its labels which build it is of, so that a
 * watch that was stopped, or killed, goes on where it was.
 */

/* ---- Builds ---- */

/* The build that a target runs. "" in a member: not known, which differs from nothing. */
enum { WATCH_WORD_BYTES = PROFILE_LABEL_VALUE_BYTES + 1 };
struct watch_build {
	char build_id[WATCH_WORD_BYTES]; /* of the main binary */
	char version[WATCH_WORD_BYTES];  /* service.version, as the process was given it */
	char image[WATCH_WORD_BYTES];    /* of its container: hash of the layers of its root */
};

/* The labels by which profiles tell it, beside PROFILE_LABEL_VERSION. */
#define WATCH_LABEL_BUILD "build"
#define WATCH_LABEL_IMAGE "image"
#define WATCH_LABEL_STARTED "started" /* when the main process began, as watch_time_words() has it */

/* Returns whether one of what both know differs: a deploy. */
bool watch_is_deploy(const struct watch_build *before, const struct watch_build *now);

/* Takes over from `before` what `now` does not know: a build that did not tell its version may still have it. */
void watch_build_carry(const struct watch_build *before, struct watch_build *now);

/* Appends what differs, what people know best first: "version 41 → 42", "build 1f2e3d4c5b6a → 998877665544". */
void watch_deploy_words(const struct watch_build *before, const struct watch_build *now, struct buffer *out);

/*
 * Finds a name of the container image that a process sees as its root, by the lower layers of the overlay that is
 * mounted there: the image's layers are the same files for all its containers on a machine. `mountinfo` and `cgroup`
 * are the texts of these files below /proc/PID (proc_pid_mountinfo(5)). Docker puts a layer of the container's own on
 * top of the image's (moby, "init layer"), which is passed over where the control group is one of Docker's. "": no
 * overlay.
 */
void watch_image_of(const char *mountinfo, const char *cgroup, char image[static WATCH_WORD_BYTES]);

/*
 * Reads the value of an attribute in OTEL_RESOURCE_ATTRIBUTES, as "service.version=42,service.name=shop", whose values
 * are percent-encoded (OpenTelemetry specification, "Resource SDK"). False: it is not there, or can be no value of a
 * label.
 */
bool watch_attribute(const char *attributes, const char *key, char value[static WATCH_WORD_BYTES]);

/*
 * The identity that a process was told by its environment, whose `size` bytes hold "NAME=VALUE" with a NUL each:
 * service.name and service.version. "" where it says nothing.
 */
struct watch_environment {
	char service[WATCH_WORD_BYTES], version[WATCH_WORD_BYTES];
};
void watch_read_environment(const char *bytes, size_t size, struct watch_environment *environment);

/* ---- The target ---- */

enum watch_target_kind {
	WATCH_PID,    /* a process, and behind its end the one that takes its place */
	WATCH_EXE,    /* the oldest process that executes a program, and from then on those of its user */
	WATCH_CGROUP, /* the processes of a control group, also of one that is made again */
	WATCH_UNIT,   /* likewise of the group of a systemd unit */
};

struct watch_wish {
	enum watch_target_kind kind;
	pid_t pid;        /* of WATCH_PID */
	const char *name; /* borrowed: a path or name of a program, the path of a group, "checkout.service" */
};

/*
 * A path of a program (it has a '/') means the file there, as we see it, by whatever path its processes see it; and,
 * where it was replaced or removed, what those processes execute that had it from there. A name means any file of that
 * name. Neither tells whose process it is: another user may execute the same file, or one of the same name. So a watch
 * stays with the user whose process it met first.
 */

/*
 * The main process of a target: of a group the oldest of those that execute its program, which is the one that used
 * most of the group's first watch_cpu_ns of CPU time, and the same path as long as there is one. So a launcher is not
 * taken for the service, nor a helper that comes and goes. Before that time it is not known, and tells of no build.
 */
static const int64_t watch_cpu_ns = 1000000000;
enum { WATCH_PATH_BYTES = 4096 };
struct watch_process {
	pid_t pid;
	uint32_t user;                  /* who answers for it (sampler/process/account.h) */
	bool is_known;                  /* false: it may turn out to be the launcher */
	int64_t began_boot_ns;          /* CLOCK_BOOTTIME */
	char program[WATCH_PATH_BYTES]; /* without " (deleted)"; "": it may not be known */
	char link[WATCH_PATH_BYTES];    /* as /proc/PID/exe has it */
	char group[WATCH_PATH_BYTES];   /* control group, as /proc/PID/cgroup has it */
};

struct watch_target;

/* `err` ERROR_NOT_FOUND: a process of WATCH_PID is not there. Others may come later. */
COMMON_MUST_CHECK
bool watch_target_create(const struct watch_wish *wish, struct watch_target **target, struct error *err);
void watch_target_destroy(struct watch_target *target);

static inline void watch_target_cleanup(struct watch_target **target)
{
	watch_target_destroy(*target);
}

enum watch_sight {
	WATCH_SAME,  /* nothing has changed */
	WATCH_THERE, /* the main process is another one than before, or executes another program */
	WATCH_GONE,  /* it is gone, and none is there in its place */
};

/*
 * Looks at the target. That takes two system calls while its main process lives; one that is looked for costs more, and
 * is looked for less and less often, at least each watch_rest_ns.
 */
static const int64_t watch_rest_ns = 4000000000;
enum watch_sight watch_target_look(struct watch_target *target, int64_t boot_ns);

/* The main process; NULL: there is none. Borrowed until the next look. */
const struct watch_process *watch_target_process(const struct watch_target *target);

/* Returns, of WATCH_EXE, whether the last search met processes of users that the target does not belong to. */
bool watch_target_has_namesakes(const struct watch_target *target);

/* The directory of the control group that is to be recorded; NULL: the process is. Borrowed, likewise. */
const char *watch_target_group(const struct watch_target *target);

/*
 * Reads which build a process runs, and what it was told of itself. Its memory, files and environment are foreign and
 * may be slow; call it in a child process. `service` and the version of the environment are "" where the process
 * publishes them itself (sampler/process/otel_context.h), as the recorder then reads them while it records.
 */
struct watch_identity {
	struct watch_build build;
	char service[WATCH_WORD_BYTES];
};
COMMON_MUST_CHECK
bool watch_identify(const struct watch_process *process, struct watch_identity *identity, struct error *err);

/* ---- When it is recorded ---- */

/*
 * A recording begins in each of the slots of the wall clock that are `every_ns` long, but for a target that is not
 * there or has begun less than `settle_ns` ago. Another one follows a restart, and WATCH_BURST of them the first
 * profile of a new build, as fast as they can. These extra ones are paid for: a watch has at most WATCH_MOST_EXTRA of
 * them, and gets one more each `every_ns`, so that a target which restarts again and again costs no more than twice the
 * schedule.
 *
 * Slots are of the wall clock, so that machines that are watched alike have profiles of the same times; lengths of time
 * are of CLOCK_BOOTTIME, which goes on while the machine is suspended. A wall clock that is set never makes two
 * recordings come closer than half of `every_ns`, or go out for longer than `every_ns`. No clock is read here.
 */
enum { WATCH_BURST = 2, WATCH_MOST_EXTRA = 6 };

struct watch_clocks {
	int64_t wall_ns; /* CLOCK_REALTIME */
	int64_t boot_ns; /* CLOCK_BOOTTIME */
};

struct watch_plan {
	int64_t every_ns, settle_ns;
	int64_t jitter_ns; /* by which slots begin later than multiples of every_ns since 1970; less than every_ns */
};

enum watch_reason {
	WATCH_NOT_NOW,
	WATCH_BY_SCHEDULE,
	WATCH_BY_RESTART,
	WATCH_BY_DEPLOY,
	WATCH_BY_REQUEST, /* of the user */
};

/* Members are private. */
struct watch_schedule {
	struct watch_plan plan;
	int64_t slot;              /* of the last recording; INT64_MIN: none */
	int64_t last_boot_ns;      /* when it began */
	int64_t target_began_ns;   /* CLOCK_BOOTTIME; INT64_MAX: it is not there */
	int64_t extra_as_of_ns;    /* when `extra` was last added to */
	unsigned int extra, burst; /* recordings that are paid for; that a new build still has to get */
	bool has_restarted, is_asked;
};

/* `newest_wall_ns`: when the newest profile of the directory began; 0: there is none. */
void watch_schedule_init(struct watch_schedule *schedule, const struct watch_plan *plan, const struct watch_clocks *now,
	int64_t newest_wall_ns);

/* The target is there, and began then; `is_restart`: it had been another process before. */
void watch_schedule_target(struct watch_schedule *schedule, int64_t began_boot_ns, bool is_restart);
void watch_schedule_gone(struct watch_schedule *schedule);

/* The last profile is of a new build. */
void watch_schedule_deploy(struct watch_schedule *schedule);

/* The user wants a recording now; it waits for nothing but a target. */
void watch_schedule_ask(struct watch_schedule *schedule);

/*
 * Returns why a recording should begin now; or WATCH_NOT_NOW, and in `*wait_ns` for how long nothing but an event
 * changes that.
 */
enum watch_reason watch_schedule_next(
	struct watch_schedule *schedule, const struct watch_clocks *now, int64_t *wait_ns);

/* A recording has begun for this reason. */
void watch_schedule_began(struct watch_schedule *schedule, const struct watch_clocks *now, enum watch_reason reason);

/* ---- The directory ---- */

/*
 * Files of a watch are named after times in UTC: a profile by when its recording began, a report by when the deploy was
 * that it tells of. A second file of one name gets a number, so that a clock which was set back never has a file
 * replaced. Any other file is none of the watch's.
 */
enum watch_file_kind { WATCH_PROFILE, WATCH_PART, WATCH_REPORT, WATCH_REPORT_JSON };
enum { WATCH_NAME_BYTES = 64, WATCH_TIME_BYTES = 32, WATCH_MOST_FILES = 1 << 20 };

struct watch_file {
	enum watch_file_kind kind;
	int64_t unix_s;
	unsigned int number; /* from 1 */
	uint64_t bytes;      /* set by the caller */
};

/* "2026-11-26T08-00-00Z", which holds no colons, so that every file system and shell takes it; years 1970 to 9999. */
void watch_time_words(int64_t unix_s, char words[static WATCH_TIME_BYTES]);

/* Reads such a time at the start of a text; returns what is behind it, NULL: there is none. */
const char *watch_time_parse(const char *words, int64_t *unix_s);

void watch_file_name(const struct watch_file *file, char name[static WATCH_NAME_BYTES]);

/* False: the name is none of a watch's. */
bool watch_file_parse(const char *name, struct watch_file *file);

struct watch_files {
	struct watch_file *items; /* owned */
	size_t count, capacity;
};

COMMON_MUST_CHECK
bool watch_files_add(struct watch_files *files, const struct watch_file *file, struct error *err);
void watch_files_deinit(struct watch_files *files);

/* Sorts by time, then number, then kind. */
void watch_files_sort(struct watch_files *files);

/* The bounds of what is kept. Profiles and reports count one each, a report with its JSON; `most_bytes` 0: no bound. */
enum { WATCH_PAIR_PROFILES = 10, WATCH_DEPLOYS_KEPT = 10, WATCH_LEAST_KEPT = 6 };
struct watch_bounds {
	size_t most_files;
	uint64_t most_bytes;
};

/*
 * Moves the files that have to go to the front of the sorted list, and sets `*expired` to their number; the rest stays
 * in the order in which it would go. The oldest go first: of them, those that stand beside none of the last deploys;
 * then, deploy by deploy, their reports and the profiles beside them; last of all the newest profiles, which the next
 * deploy is compared with. Parts of recordings stay, and count.
 */
COMMON_MUST_CHECK
bool watch_files_expired(
	struct watch_files *files, const struct watch_bounds *bounds, size_t *expired, struct error *err);

/* ---- Deploys in a series of profiles ---- */

/*
 * The profiles on both sides of the last deploy, in a series of profiles in order of time, of which each has its build.
 * Before it are only those of the build that it replaced. Half-open ranges.
 */
struct watch_deploy {
	size_t before, at, end; /* the first profile before it; the first of the new build; behind the last one */
	struct watch_build from, to;
};

/* False: there is no deploy in the series. At most WATCH_PAIR_PROFILES on each side. */
bool watch_last_deploy(const struct watch_build *builds, size_t count, struct watch_deploy *deploy);

/*
 * Returns whether the report of a deploy is to be made, or made again: at WATCH_BURST + 1 profiles behind it, and at
 * WATCH_PAIR_PROFILES. `reported`: how many the last report of it had; 0: there is none.
 */
bool watch_deploy_is_due(const struct watch_deploy *deploy, size_t reported);

/* ---- The directory, opened ---- */

/*
 * The directory of a watch: the user's own, which nobody else can lead elsewhere (common/own_directory.h), opened once
 * and locked, so that one watch has one directory. It is made with 0700 if it is not there.
 */
struct watch_place {
	char *path;   /* owned: absolute, for messages */
	int fd, lock; /* owned */
};

/* Opens the directory. ERROR_USAGE: another watch has it, whose process is named. */
COMMON_MUST_CHECK
bool watch_place_open(const char *path, struct watch_place *place, struct error *err);
void watch_place_deinit(struct watch_place *place);

/* Returns whether somebody has removed the directory. */
bool watch_place_is_removed(const struct watch_place *place);

/* Reads the watch's files, in order. */
COMMON_MUST_CHECK
bool watch_place_list(const struct watch_place *place, struct watch_files *files, struct error *err);

/* Gives a profile of this time the first number under which neither it nor its part is there. */
void watch_place_choose(const struct watch_place *place, struct watch_file *file);

/* Returns whether the file is there. */
bool watch_place_has(const struct watch_place *place, const struct watch_file *file);

/* Returns when it was written, in nanoseconds since 1970; 0: it is not there. */
int64_t watch_place_written_ns(const struct watch_place *place, const struct watch_file *file);

/* Removes files over the bounds. */
COMMON_MUST_CHECK
bool watch_place_expire(const struct watch_place *place, const struct watch_bounds *bounds, struct error *err);

void watch_place_remove(const struct watch_place *place, const struct watch_file *file);

/* ---- The newest profiles ---- */

/*
 * The newest profiles of a watch in the order in which they were recorded, and what they tell by their labels. They are
 * read in a process without rights, as all profiles are, which hands over a line for each.
 */
enum { WATCH_SERIES_MOST = 3 * WATCH_PAIR_PROFILES };
struct watch_series {
	struct watch_file files[WATCH_SERIES_MOST];
	struct watch_build builds[WATCH_SERIES_MOST];
	int64_t started_s[WATCH_SERIES_MOST]; /* when the main process began; 0: not known */
	bool has_work[WATCH_SERIES_MOST];     /* requests were counted */
	size_t count;
};

/* Appends a line of what a profile tells; of one that cannot be read, that is the name and WATCH_SERIES_NOTHING. */
#define WATCH_SERIES_NOTHING "\t\t\t\t\t\n"
void watch_series_append(const struct profile *profile, const char *name, struct buffer *line);

/* Takes such lines; profiles that are not the watch's are passed over. */
void watch_series_take(struct watch_series *series, const char *text);

/*
 * Returns whether a profile is compared: where requests were counted on both sides of the deploy, one without a count,
 * as of a recording that was killed, would leave the rest without a measure.
 */
bool watch_series_is_compared(const struct watch_series *series, const struct watch_deploy *deploy, size_t profile);

/*
 * Returns when a deploy was: when its process began, if that lies between the profiles, else when its first profile
 * began.
 */
int64_t watch_series_deploy_s(const struct watch_series *series, const struct watch_deploy *deploy);

/* ---- What is sent ---- */

/*
 * Which profiles of a watch go to a store, one by one, sent by `kelvin push` in a child beside the one that records.
 * What was sent stands in the file `.sent` of the directory, a name a line behind the address; all other profiles are
 * still to be sent, also those of a watch before. A profile whose mark was lost is sent again, and the store, which
 * knows it by its id, has it once.
 *
 * After two failures in a row nothing is sent before watch_push_wake(). A profile that failed waits until all others
 * were tried, so that one which no store will have does not hold them up.
 */
struct watch_push {
	const char *address;          /* borrowed; NULL: nothing is sent */
	struct store_secrets secrets; /* which only the children have that send */
	struct watch_files sent;      /* sorted */
	struct watch_files failed;    /* in this life of the watch */
	struct watch_file file;       /* that is sent */
	unsigned int failures;        /* in a row */
	bool rests;
};

/* Moves the secrets out of the environment in any case. */
COMMON_MUST_CHECK
bool watch_push_begin(struct watch_push *push, const struct watch_place *place, const char *address, struct error *err);
void watch_push_deinit(struct watch_push *push);

/* Tells that there is a new profile. */
void watch_push_wake(struct watch_push *push);

/* Sets `*is_due` to whether a profile is to be sent now, which is `push->file` then. */
COMMON_MUST_CHECK
bool watch_push_next(struct watch_push *push, const struct watch_place *place, bool *is_due, struct error *err);

/* It was sent, or could not be. Where its mark cannot be kept, it will be sent again. */
COMMON_MUST_CHECK
bool watch_push_sent(struct watch_push *push, const struct watch_place *place, struct error *err);
void watch_push_failed(struct watch_push *push);

/* ---- The work ---- */

/*
 * What a watch does next, and what follows from how it ended. Its work is done by commands of the program, which `cli/`
 * runs in children: one at a time, beside the one that sends (struct watch_push). Nothing here is run, printed or
 * caught.
 */

struct watch_options {
	struct watch_wish wish;
	const char *output; /* the directory */
	const char *push;   /* address of a store; NULL: none */
	double every_s, duration_s, settle_s;
	struct watch_bounds bounds;
	bool quiet; /* says errors alone, and the lines of deploys */
};

enum watch_work {
	WATCH_NOTHING,
	WATCH_RECORDS,  /* `process`, to the file `name` */
	WATCH_RECOVERS, /* what a killed recording has left of `name` */
	WATCH_COMPARES, /* the builds of `report` */
};

/*
 * The report of a deploy: `kelvin diff` of the profiles before against those behind it, as a page and as JSON; then a
 * line on standard output, whose figures are those of the JSON, so that both say the same.
 */
struct watch_report {
	struct buffer base, head; /* owned: names of profiles, joined by commas */
	char page[WATCH_NAME_BYTES], json[WATCH_NAME_BYTES];
	struct buffer begin; /* owned: of the line: "deploy 2026-11-26 08:10 version 41 → 42" */
	struct buffer end;   /* owned: likewise: "3 profiles before and 3 after; report DIR/deploy-….html" */
};

struct watch {
	const struct watch_options *options;
	struct watch_place place;
	struct watch_target *target;
	struct watch_schedule schedule;
	struct watch_series series;
	struct watch_push push;
	/* The work that is done, and what it is told. */
	enum watch_work work;
	struct watch_process process;
	struct watch_file file;
	char name[WATCH_NAME_BYTES];
	struct watch_report report;
	bool was_told_to_end; /* the recording */
	bool may_have_part;   /* a recording has failed, and may have left something */
	/* The last deploy. */
	struct watch_file first; /* its first profile */
	size_t reported, tried;  /* profiles behind it that its report has, or that none could be made with; 0: none */
	bool is_ending;          /* the user wants it, or the directory is gone */
	bool is_removed;         /* the directory */
	int64_t newest_s; /* when the newest profile of the directory began, as the watch found it; 0: there was none */
	/* Lines to be printed, as the program's messages are; whoever prints them empties it. */
	struct buffer said;
	/* The last failure: the same is not said again before something else has happened. */
	struct buffer failure;
	bool said_gone, said_restart, said_namesakes;
};

/* Opens the target and the directory. What was opened until a failure is watch_close()'s, too. */
COMMON_MUST_CHECK
bool watch_open(struct watch *watch, const struct watch_options *options, struct error *err);
void watch_close(struct watch *watch);

/* Returns whether a recovery of what a killed recording has left is to be done, which is the work then. */
bool watch_recover(struct watch *watch);

/*
 * Sets `names` to the newest profiles of the directory, in order, and `*count` to their number: what they tell is to be
 * given to watch_series_take() before watch_begin().
 */
COMMON_MUST_CHECK
bool watch_newest(
	struct watch *watch, char names[static WATCH_SERIES_MOST][WATCH_NAME_BYTES], size_t *count, struct error *err);

/* Begins to watch. */
COMMON_MUST_CHECK
bool watch_begin(struct watch *watch, struct error *err);

/* Looks at the target. Returns whether the recording that runs is to be told to end now, with what it has. */
bool watch_look(struct watch *watch);

/* Returns the same where the user has it end. */
bool watch_cut(struct watch *watch);

/* Returns how often it is to be looked at. */
int64_t watch_look_ns(const struct watch *watch);

/* Sets the work, of which there is none, to what is to be done now; or `*wait_ns` to when to ask again. */
void watch_choose(struct watch *watch, int64_t *wait_ns);

/* The end of the work: its exit code (0: done), and what it wrote to standard output and error; "": nothing. */
void watch_end_work(struct watch *watch, int code, const char *out, const char *said);

/* Says what a child could not do, unless it is what was said last, but for the name of the file. */
void watch_say_failure(struct watch *watch, const char *text);
void watch_say_error(struct watch *watch, const struct error *err);
