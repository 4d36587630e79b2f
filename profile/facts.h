/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

#include <stddef.h>

struct profile;

/*
 * The circumstances of a recording. The table of profile_facts() describes each member. Strings are ids; 0: not known.
 */
struct profile_facts {
	uint32_t command;    /* what was recorded, as a person would type it: "pid 812 (server)", "./bench --n 3" */
	uint32_t event;      /* perf's name: "cycles", "cpu-clock" */
	uint32_t call_graph; /* "dwarf,16384", "fp" */
	uint32_t cpu_model, cpu_count, kernel, governor;
	uint32_t frequency_hz;    /* the frequency asked for; 0: a fixed period, or not known */
	uint32_t cpu_limit_milli; /* thousandths of a CPU that the control group may use; 0: no limit, or not known */
	uint32_t cgroup;          /* of the first process: "/system.slice/cron.service" */
	uint32_t container;       /* id of the container, if it ran in one */
	uint32_t tool;            /* "kelvin 0.1.0", "perf 6.1", ... */
	bool user_only;           /* the recorder was not permitted to sample the kernel */
	/* perf's precise_ip of the event: from 2 on a sample has the instruction's own address; 0: not, or not known */
	uint32_t precise_ip;
	uint32_t counters;             /* what was counted beside: "page-faults, context-switches" */
	uint32_t counters_ran_percent; /* of the time, where they had to take turns: they are scaled; 0: all of it */
	uint32_t wait_interval_us;     /* waiting time that a sample stands for, at most; 0: waits were not sampled */
	/* The load of the rest of the machine (sampler/live/surroundings.h). */
	uint32_t machine_busy_percent, machine_steal_percent, cpu_pressure_percent, throttled_ms;
	/* CPU time of programs that the kernel did not let the recorder sample: set-user-ID ones, say; 0: too little to
	 * tell */
	uint32_t unsampled_ms;
	uint32_t harness;   /* that ran the benchmarks: "pytest-codspeed 5.0.4" */
	uint32_t toolchain; /* what it says of compilers and interpreters: "Python 3.11.2" */
};

enum profile_fact_type {
	PROFILE_FACT_STRING,      /* uint32_t, a string; 0: not known */
	PROFILE_FACT_NUMBER,      /* uint32_t; 0: not known */
	PROFILE_FACT_THOUSANDTHS, /* uint32_t; 0: no limit, or not known */
	PROFILE_FACT_FLAG,        /* bool */
};

/*
 * One of the facts: all that files, merging, comparisons and reports do with it. To add a fact, add a member to struct
 * profile_facts and a row to the table in facts.c.
 */
struct profile_fact {
	const char *name; /* in JSON and in the data of the page */
	size_t offset;    /* in struct profile_facts */
	uint32_t field;   /* in files, its number in `facts` of pprof.proto; never used again for another fact */
	enum profile_fact_type type;
	const char *one, *many; /* units of a number: "CPU", "CPUs" */
	/*
	 * The text that reports write before the value; for a flag, all that they write when it is set. NULL: reports
	 * leave the fact out. `shown_chars`: they write at most this many characters of the value; 0: all.
	 */
	const char *prefix;
	int shown_chars;
	/*
	 * The texts that a comparison writes before, between and behind the values of base and head when they differ;
	 * for a flag the values are the names of the side that has it and of the other. differs[1] NULL: the fact is
	 * not compared.
	 */
	const char *differs[3];
	bool blocks_gate; /* a difference puts a comparison in doubt */
	/* numbers and hexadecimal ids within it are ignored, since every start of the same service has others */
	bool ignores_ids;
	/* it changes how long a program takes, but not what it does: comparisons of exact counts leave it out */
	bool is_of_speed;
	bool adds_up;           /* a number that several recordings together have the sum of */
	bool is_rare;           /* JSON has it only where it is known */
	bool known_with_cgroup; /* where the control group is known, 0 means no limit */
};

/* Returns the table of `*count` facts, in the order in which reports show them. Static. */
const struct profile_fact *profile_facts(size_t *count);

/* Returns a fact's stored value: a string's id, a number, or 0 or 1. */
uint32_t profile_fact_get(const struct profile_facts *facts, const struct profile_fact *fact);
void profile_fact_set(struct profile_facts *facts, const struct profile_fact *fact, uint32_t value);

/* Appends the fact's value in words: "Linux 6.1", "997 Hz", "1.5 CPUs", "no limit"; nothing for a flag. */
void profile_fact_words(const struct profile *profile, const struct profile_fact *fact, struct buffer *out);

/* Returns whether both profiles have the fact and its values differ. */
bool profile_fact_differs(const struct profile *base, const struct profile *head, const struct profile_fact *fact);

/* The value of the fact call_graph for stacks that were made of calls between two functions each. */
#define PROFILE_CALL_GRAPH_ESTIMATED "estimated from calls"
