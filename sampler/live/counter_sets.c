/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/counter_sets.h"

#include <dirent.h>
#include <linux/perf_event.h>
#include <string.h>

/* ---- What the processor is ---- */

static bool counter_sets_read_text(const char *directory, const char *name, char *text, size_t size)
{
	char path[512];
	FILE *file;
	bool ok;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", directory, name) >= sizeof(path))
		return false;
	file = fopen(path, "re");
	if (!file)
		return false;
	ok = fgets(text, (int)size, file) != NULL;
	fclose(file);
	if (ok)
		text[strcspn(text, "\n")] = '\0';
	return ok;
}

static uint32_t counter_sets_read_number(const char *directory, const char *name)
{
	char text[32];

	return counter_sets_read_text(directory, name, text, sizeof(text)) ? (uint32_t)strtoul(text, NULL, 0) : 0;
}

/* Recognises the PMUs of cores: `cpu`, `cpu_core` and `cpu_atom`, `armv8_pmuv3_0`, `armv8_cortex_a72`, ... */
static bool is_of_cores(const char *name)
{
	return strcmp(name, "cpu") == 0 || strcmp(name, "cpu_core") == 0 || strcmp(name, "cpu_atom") == 0 ||
	       strncmp(name, "armv8", 5) == 0 || strncmp(name, "armv9", 5) == 0;
}

static void read_pmus(const char *devices, struct counter_machine *machine)
{
	DIR *directory = opendir(devices);
	const struct dirent *entry;

	while (directory && (entry = readdir(directory)) != NULL) {
		if (!is_of_cores(entry->d_name))
			continue;
		machine->pmu_count++;
		machine->is_arm = strncmp(entry->d_name, "arm", 3) == 0;
		if ((size_t)snprintf(machine->pmu, sizeof(machine->pmu), "%s/%s", devices, entry->d_name) >=
			sizeof(machine->pmu))
			machine->pmu[0] = '\0';
	}
	if (directory)
		closedir(directory);
	machine->pmu_type = machine->pmu[0] ? counter_sets_read_number(machine->pmu, "type") : 0;
}

void counter_machine_read(const char *devices, const char *cpuinfo, struct counter_machine *machine)
{
	CLEANUP(cleanup_fclose) FILE *file = fopen(cpuinfo, "re");
	char line[256];

	*machine = (struct counter_machine){ 0 };
	read_pmus(devices, machine);
	/* The first processor: its lines end with an empty one. */
	while (file && fgets(line, sizeof(line), file) && line[0] != '\n') {
		const char *value = strchr(line, ':');

		if (!value)
			continue;
		if (strncmp(line, "vendor_id", 9) == 0) {
			machine->is_intel = strstr(value, "GenuineIntel");
			machine->is_amd = strstr(value, "AuthenticAMD");
		} else if (strncmp(line, "cpu family", 10) == 0) {
			machine->family = (uint32_t)strtoul(value + 1, NULL, 10);
		} else if (strncmp(line, "model\t", 6) == 0) {
			machine->model = (uint32_t)strtoul(value + 1, NULL, 10);
		}
	}
}

/* ---- Which counters there are ---- */

/* A counter: by its name in sysfs, where the machine has that, else by its code. */
struct counter_spec {
	const char *name; /* below `events`; NULL: by code */
	uint64_t code;
	struct counter_column column;
	uint8_t factor; /* 0: as many as slots in a cycle, as the machine says */
	bool is_needed; /* the group is of no use without it */
};

struct counter_set {
	const char *kind, *parts_unit;
	bool (*is_for)(const struct counter_machine *machine);
	size_t sampling; /* place of the sampling event among the specs, which is cycles */
	size_t count;
	struct counter_spec specs[COUNTERS_MAX_MEMBERS];
};

/* Columns: those with a name are value types of the profile; the others only decide the parts. */
/* clang-format off */
#define SLOTS { COUNTER_COST_SLOTS, "slots", COUNTER_COST_ALL }
#define RETIRING { COUNTER_COST_RETIRING, "slots", COUNTER_COST_NO_INPUT }
#define BAD_SPECULATION { COUNTER_COST_BAD_SPECULATION, "slots", COUNTER_COST_NO_INPUT }
#define FRONTEND { COUNTER_COST_FRONTEND, "slots", COUNTER_COST_NO_INPUT }
#define BACKEND { COUNTER_COST_BACKEND, "slots", COUNTER_COST_BACKEND_SLOTS }
#define DATA { "", "slots", COUNTER_COST_DATA_SLOTS }
#define CYCLES { COUNTER_COST_CYCLES, "count", COUNTER_COST_ALL }
#define ONLY_CYCLES { COUNTER_COST_CYCLES, "count", COUNTER_COST_NO_INPUT }
#define STALLS { "", "cycles", COUNTER_COST_STALLS }
#define DATA_STALLS { "", "cycles", COUNTER_COST_DATA_STALLS }
#define LAST_STALLS { "", "cycles", COUNTER_COST_LAST_STALLS }
#define FIRST_MISSES { COUNTER_COST_FIRST_MISSES, "count", COUNTER_COST_FIRST }
#define LAST_MISSES { COUNTER_COST_LAST_MISSES, "count", COUNTER_COST_LAST }
/* clang-format on */

static bool has_event(const struct counter_machine *machine, const char *name)
{
	char path[64], text[128];

	snprintf(path, sizeof(path), "events/%s", name);
	return machine->pmu[0] && counter_sets_read_text(machine->pmu, path, text, sizeof(text));
}

static bool has_metrics(const struct counter_machine *machine)
{
	return machine->is_intel && has_event(machine, "slots") && has_event(machine, "topdown-retiring");
}

static bool has_metrics_of_memory(const struct counter_machine *machine)
{
	return has_metrics(machine) && has_event(machine, "topdown-mem-bound");
}

/* Skylake, Cascade Lake, Kaby, Coffee and Comet Lake (arch/x86/include/asm/intel-family.h). */
static bool is_skylake(const struct counter_machine *machine)
{
	static const uint8_t models[] = { 0x4e, 0x55, 0x5e, 0x8e, 0x9e, 0xa5, 0xa6 };

	return machine->is_intel && machine->family == 6 && machine->model <= UINT8_MAX &&
	       memchr(models, (int)machine->model, sizeof(models));
}

static bool is_intel(const struct counter_machine *machine)
{
	return machine->is_intel && machine->family == 6;
}

/* Zen 4 shares family 0x19 with Zen 3 (arch/x86/kernel/cpu/amd.c). */
static bool is_zen4(const struct counter_machine *machine)
{
	return machine->is_amd && machine->family == 0x19 &&
	       ((machine->model >= 0x10 && machine->model <= 0x1f) ||
		       (machine->model >= 0x60 && machine->model <= 0xaf));
}

static bool is_zen5(const struct counter_machine *machine)
{
	return machine->is_amd && machine->family == 0x1a;
}

static bool has_stall_slots(const struct counter_machine *machine)
{
	return machine->is_arm && counter_sets_read_number(machine->pmu, "caps/slots") > 0 &&
	       has_event(machine, "stall_slot_backend") && has_event(machine, "stall_backend_mem");
}

static bool is_arm(const struct counter_machine *machine)
{
	return machine->is_arm;
}

/* clang-format off */
/* MEM_LOAD_RETIRED.L1_MISS and .L3_MISS: loads, the same codes since Haswell (Intel's perfmon event files). */
#define INTEL_MISSES \
	{ NULL, 0x08d1, FIRST_MISSES, 1, false }, \
	{ NULL, 0x20d1, LAST_MISSES, 1, false }

/* Intel's fixed counters for the pipeline; slots must lead, and the second event samples (perf's topdown.txt). */
#define INTEL_METRICS \
	{ "slots", 0, SLOTS, 1, true }, \
	{ NULL, 0, ONLY_CYCLES, 1, true }, \
	{ "topdown-retiring", 0, RETIRING, 1, true }, \
	{ "topdown-bad-spec", 0, BAD_SPECULATION, 1, true }, \
	{ "topdown-fe-bound", 0, FRONTEND, 1, true }, \
	{ "topdown-be-bound", 0, BACKEND, 1, true }

/*
 * Events of AMD by perf's pmu-events/arch/x86/amdzen4 and amdzen5 (pipeline.json for the sums): ls_not_halted_cyc times
 * the width, de_no_dispatch_per_slot.backend_stalls, ex_no_retire.load_not_complete and .not_complete,
 * ls_dmnd_fills_from_sys of all sources and of memory, ex_ret_ops. There are six counters, one of which the kernel's
 * watchdog may hold.
 */
#define AMD_SLOTS(width) \
	{ NULL, 0, SLOTS, width, true }, \
	{ NULL, 0x100001ea0, BACKEND, 1, true }, \
	{ NULL, 0xa2d6, DATA_STALLS, 1, true }, \
	{ NULL, 0x02d6, STALLS, 1, true }, \
	{ NULL, 0x5f43, FIRST_MISSES, 1, false }, \
	{ NULL, 0x4843, LAST_MISSES, 1, false }, \
	{ NULL, 0x00c1, RETIRING, 1, false }

/* Architected events (Arm ARM, D13.11): beyond the first cache is L2D_CACHE, to memory L2D_CACHE_REFILL. */
#define ARM_MISSES \
	{ NULL, 0x16, FIRST_MISSES, 1, false }, \
	{ NULL, 0x17, LAST_MISSES, 1, false }
/* clang-format on */

enum { INTEL_METRICS_COUNT = 6, AMD_COUNT = 7 };

/* The better ones first. */
static const struct counter_set counter_sets[] = {
	/* The set serves Sapphire Rapids and later. */
	{ "topdown", "slots", has_metrics_of_memory, 1, INTEL_METRICS_COUNT + 3,
		{ INTEL_METRICS, { "topdown-mem-bound", 0, DATA, 1, true }, INTEL_MISSES } },
	/* Ice Lake: which part of the backend's slots waits for data follows from its stalls, as in pmu-tools'
	 * icl_client_ratios.py: CYCLE_ACTIVITY.STALLS_MEM_ANY of .STALLS_TOTAL. */
	{ "topdown", "slots", has_metrics, 1, INTEL_METRICS_COUNT + 4,
		{ INTEL_METRICS, { NULL, 0x140014a3, DATA_STALLS, 1, true }, { NULL, 0x040004a3, STALLS, 1, true },
			INTEL_MISSES } },
	{ "topdown", "slots", is_zen4, 0, AMD_COUNT, { AMD_SLOTS(6) } },
	{ "topdown", "slots", is_zen5, 0, AMD_COUNT, { AMD_SLOTS(8) } },
	/* Arm Neoverse V2, N2 and later: slots of a cycle by caps/slots. */
	{ "topdown", "slots", has_stall_slots, 0, 7,
		{ { NULL, 0, SLOTS, 0, true }, { "stall_slot_backend", 0, BACKEND, 1, true },
			{ "stall_backend_mem", 0, DATA_STALLS, 1, true }, { "stall_backend", 0, STALLS, 1, true },
			ARM_MISSES, { "stall_slot_frontend", 0, FRONTEND, 1, false } } },
	/* pmu-tools' skx_server_ratios.py: CYCLE_ACTIVITY.STALLS_MEM_ANY and EXE_ACTIVITY.BOUND_ON_STORES,
	 * CYCLE_ACTIVITY.STALLS_L3_MISS. */
	{ "raw counters", "cycles", is_skylake, 0, 4,
		{ { NULL, 0, CYCLES, 1, true }, { NULL, 0x140014a3, DATA_STALLS, 1, true },
			{ NULL, 0x40a6, DATA_STALLS, 1, true }, { NULL, 0x060006a3, LAST_STALLS, 1, true } } },
	{ "raw counters", "cycles", is_intel, 0, 3, { { NULL, 0, CYCLES, 1, true }, INTEL_MISSES } },
	{ "raw counters", "cycles", is_arm, 0, 3, { { NULL, 0, CYCLES, 1, true }, ARM_MISSES } },
};

/* The value of `name=` in an event's description, as `event=0x3c,umask=0x1`. */
static uint64_t term_of(const char *text, const char *name)
{
	size_t size = strlen(name);

	for (const char *term = text; term && *term; term = strchr(term, ',') ? strchr(term, ',') + 1 : NULL)
		if (strncmp(term, name, size) == 0 && term[size] == '=')
			return strtoull(term + size + 1, NULL, 16);
	return 0;
}

/*
 * Reads the fields of an event's code, by the PMU's `format` directory: those of x86 as of Arm have never been moved.
 */
static bool counter_sets_read_code(const struct counter_machine *machine, const char *name, uint64_t *code)
{
	char path[64], text[128];
	uint64_t event;

	snprintf(path, sizeof(path), "events/%s", name);
	if (!counter_sets_read_text(machine->pmu, path, text, sizeof(text)))
		return false;
	event = term_of(text, "event");
	*code = machine->is_arm ? event & 0xffff
				: (event & 0xff) | term_of(text, "umask") << 8 | term_of(text, "cmask") << 24 |
					  (event >> 8) << 32;
	return true;
}

/* Makes the group of a set, of so many optional counters; false if it lacks one that is needed. */
static bool make_group(const struct counter_machine *machine, const struct counter_set *set, size_t optional,
	struct counter_group *group)
{
	struct error ignored;

	*group = (struct counter_group){ .kind = set->kind, .parts_unit = set->parts_unit, .sampling = set->sampling };
	for (size_t i = 0; i < set->count; i++) {
		const struct counter_spec *spec = &set->specs[i];
		struct counter_event event = { machine->pmu_type, spec->code };

		if (!spec->is_needed && optional == 0)
			continue;
		optional -= !spec->is_needed;
		if (i == set->sampling)
			event = (struct counter_event){ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES };
		if ((spec->name && !counter_sets_read_code(machine, spec->name, &event.config)) ||
			!counter_group_add(group, &event, &spec->column,
				spec->factor ? spec->factor : counter_sets_read_number(machine->pmu, "caps/slots"),
				&ignored)) {
			if (spec->is_needed)
				return false;
		}
	}
	return true;
}

static size_t count_optional(const struct counter_set *set)
{
	size_t count = 0;

	for (size_t i = 0; i < set->count; i++)
		count += !set->specs[i].is_needed;
	return count;
}

/* A set of nothing but cycles is of no use. */
static bool try_set(const struct counter_machine *machine, const struct counter_set *set, counter_trial *trial,
	void *context, struct counter_group *group)
{
	for (size_t optional = count_optional(set) + 1; optional-- > 0;)
		if (make_group(machine, set, optional, group) && group->count > 2 && trial(context, group))
			return true;
	return false;
}

bool counter_sets_find(const struct counter_machine *machine, counter_trial *trial, void *context,
	struct counter_group *group, struct error *err)
{
	bool is_known = false;

	if (!machine->pmu[0])
		return error_set(
			err, ERROR_UNSUPPORTED, "this machine has no hardware counters, as most virtual machines");
	if (machine->pmu_count > 1)
		return error_set(
			err, ERROR_UNSUPPORTED, "this processor has cores of several kinds, whose counters differ");
	for (size_t i = 0; i < sizeof(counter_sets) / sizeof(counter_sets[0]); i++) {
		if (!counter_sets[i].is_for(machine))
			continue;
		is_known = true;
		if (try_set(machine, &counter_sets[i], trial, context, group))
			return true;
	}
	return error_set(err, ERROR_UNSUPPORTED, "%s",
		is_known ? "the kernel or the hypervisor does not let this processor's counters count; 'sudo sysctl "
			   "kernel.nmi_watchdog=0' frees one that the watchdog may hold"
			 : "no counters are known for this processor that tell what holds a function up");
}

static bool try_here(void *context, const struct counter_group *group)
{
	static const struct counter_event cycles = { PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES };
	const uint32_t *precise = context;
	size_t opened;

	return counter_group_counts(group, &cycles, *precise, &opened);
}

bool counter_sets_choose(uint32_t *precise, struct counter_group *group, struct error *err)
{
	struct counter_machine machine;
	struct error ignored;

	counter_machine_read("/sys/bus/event_source/devices", "/proc/cpuinfo", &machine);
	if (*precise > 0 && counter_sets_find(&machine, try_here, precise, group, &ignored))
		return true;
	*precise = 0;
	return counter_sets_find(&machine, try_here, precise, group, err);
}
