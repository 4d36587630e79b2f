/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/jit.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A file without a place in the file system: it is read by its descriptor. */
static struct file_opened write_bytes(const void *bytes, size_t size)
{
	struct file_opened file = { strdup("a map"), memfd_create("map", MFD_CLOEXEC) };

	assert_true(file.name && file.fd >= 0);
	assert_int_equal(write(file.fd, bytes, size), size);
	return file;
}

static struct file_opened write_file(const char *text)
{
	return write_bytes(text, strlen(text));
}

/* Closes the file. */
static struct symbol_map *read_with_clock(
	struct file_opened file, const struct jit_clock *clock, const uint64_t *addresses, size_t count)
{
	struct symbol_map *map;
	struct error err;

	assert_true(jit_read(&file, clock, addresses, count, &map, &err));
	file_opened_deinit(&file);
	return map;
}

static struct symbol_map *read_at(struct file_opened file, const uint64_t *addresses, size_t count)
{
	return read_with_clock(file, &(struct jit_clock){ 0 }, addresses, count);
}

#define READ_AT(file, ...)                                                                                             \
	read_at(file, (const uint64_t[]){ __VA_ARGS__ }, sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static void assert_found(const struct symbol_map *map, uint64_t address, const char *name, const char *module)
{
	struct symbol_map_symbol hit;

	assert_true(symbol_map_find(map, address, &hit));
	assert_string_equal(hit.name, name);
	assert_string_equal(hit.module, module);
}

static void reads_perf_maps_and_the_last_write_wins(void **state)
{
	struct file_opened file = write_file("1000 100 old\n"
					     "2000 80 LazyCompile:*sum /app/x.js:3:4\n"
					     "garbage\n"
					     "3000 zz bad size\n"
					     "4000 10\n"
					     "1080 100 newer\n"
					     "0x5000 0x10 with prefix\n"
					     "2000 80 second\n"
					     "6000 0 empty\n");
	struct symbol_map *map = READ_AT(file, 0x5008, 0x1010, 0x1080, 0x117f, 0x1180, 0x2000, 0x3000, 0x6000);
	struct symbol_map_symbol hit;

	assert_found(map, 0x1010, "old", "");
	assert_found(map, 0x1080, "newer", "");
	assert_found(map, 0x117f, "newer", "");
	assert_found(map, 0x2000, "second", "");
	assert_found(map, 0x5008, "with prefix", "");
	assert_false(symbol_map_find(map, 0x1180, &hit));
	assert_false(symbol_map_find(map, 0x3000, &hit));
	assert_false(symbol_map_find(map, 0x6000, &hit));
	symbol_map_destroy(map);
}

static void a_new_function_within_an_old_one_leaves_its_rest(void **state)
{
	struct file_opened file = write_file("1000 1000 large\n1400 100 small\n");
	struct symbol_map *map = READ_AT(file, 0x1000, 0x1400, 0x1500);

	assert_found(map, 0x1000, "large", "");
	assert_found(map, 0x1400, "small", "");
	assert_found(map, 0x1500, "large", "");
	symbol_map_destroy(map);
}

static void an_empty_file_is_an_empty_map(void **state)
{
	struct symbol_map *map = READ_AT(write_file(""), 0x1000);
	struct symbol_map_symbol hit;

	assert_false(symbol_map_find(map, 0x1000, &hit));
	symbol_map_destroy(map);
}

/* Larger than what is read at once, so that lines lie across the pieces; one is longer than that; the last is not
 * ended. */
static void large_maps_are_read_in_pieces(void **state)
{
	enum { LINES = 100000, LONG_BYTES = 1 << 20, STEP = 0x40, EVERY = 997 };
	uint64_t addresses[LINES / EVERY + 2];
	struct symbol_map *map;
	struct buffer text;
	size_t count = 0;
	char name[32];

	buffer_init(&text, 1 << 24);
	for (size_t i = 0; i < LINES; i++) {
		buffer_printf(&text, "%zx 40 function_%zu\n", (i + 1) * STEP, i);
		if (i == LINES / 2) {
			buffer_append_string(&text, "40 ffffff ");
			memset(buffer_reserve(&text, LONG_BYTES), 'x', LONG_BYTES);
			buffer_commit(&text, LONG_BYTES);
			buffer_append_string(&text, "\n");
		}
		if (i % EVERY == 0)
			addresses[count++] = (i + 1) * STEP + 1;
	}
	buffer_printf(&text, "%x 40 last", (LINES + 1) * STEP);
	addresses[count++] = (LINES + 1) * STEP;
	map = read_at(write_bytes(text.data, text.size), addresses, count);
	buffer_deinit(&text);
	for (size_t i = 0; i + 1 < count; i++) {
		snprintf(name, sizeof(name), "function_%zu", i * EVERY);
		assert_found(map, addresses[i], name, "");
	}
	assert_found(map, addresses[count - 1], "last", "");
	symbol_map_destroy(map);
}

static void put_timed_record(
	struct buffer *out, uint32_t id, uint64_t time_ns, const uint64_t *words, size_t count, const char *name)
{
	size_t name_size = name ? strlen(name) + 1 : 0;
	uint32_t head[2] = { id, (uint32_t)(16 + 16 + count * 8 + name_size) };
	uint64_t next[3] = { time_ns }; /* then process and thread, address again */

	buffer_append(out, head, sizeof(head));
	buffer_append(out, next, sizeof(next));
	buffer_append(out, words, count * 8);
	if (name)
		buffer_append(out, name, name_size);
}

static void put_record(struct buffer *out, uint32_t id, const uint64_t *words, size_t count, const char *name)
{
	put_timed_record(out, id, 0, words, count, name);
}

/* Two functions; the first moves; the second is replaced by a third. */
static void reads_jitdumps(void **state)
{
	static const uint64_t loads[][3] = { { 0x1000, 0x100, 1 }, { 0x2000, 0x100, 2 }, { 0x2000, 0x80, 3 } };
	static const uint64_t move[] = { 0x1000, 0x3000, 0x100, 1 };
	static const char *const names[] = { "first", "second", "third" };
	uint32_t header[10] = { 0x4a695444, 1, 40 };
	struct symbol_map_symbol hit;
	struct symbol_map *map;
	struct buffer out;

	buffer_init(&out, 1 << 16);
	buffer_append(&out, header, sizeof(header));
	for (size_t i = 0; i < 3; i++)
		put_record(&out, 0, loads[i], 3, names[i]);
	put_record(&out, 1, move, 4, NULL);
	put_record(&out, 3, NULL, 0, NULL);
	buffer_append(&out, "\0\0\0\0\xff\xff", 6); /* cut off */
	map = READ_AT(write_bytes(out.data, out.size), 0x1010, 0x2010, 0x3010, 0x4000);
	buffer_deinit(&out);
	assert_found(map, 0x1010, "first", "");
	assert_found(map, 0x3010, "first", "");
	assert_found(map, 0x2010, "third", "");
	assert_false(symbol_map_find(map, 0x4000, &hit));
	symbol_map_destroy(map);
}

struct line {
	uint64_t address;
	uint32_t line;
	const char *file; /* "\xff": as before */
};

static void put_lines(struct buffer *out, uint64_t start, const struct line *lines, size_t count, uint64_t offset)
{
	uint64_t words[2] = { start, count };
	uint32_t head[2] = { 2, 16 + 16 };
	uint64_t time = 0;

	for (size_t i = 0; i < count; i++)
		head[1] += (uint32_t)(16 + strlen(lines[i].file) + 1);
	buffer_append(out, head, sizeof(head));
	buffer_append(out, &time, sizeof(time));
	buffer_append(out, words, sizeof(words));
	for (size_t i = 0; i < count; i++) {
		uint64_t address = lines[i].address + offset;
		uint32_t numbers[2] = { lines[i].line, 0 };

		buffer_append(out, &address, sizeof(address));
		buffer_append(out, numbers, sizeof(numbers));
		buffer_append(out, lines[i].file, strlen(lines[i].file) + 1);
	}
}

static void assert_line(const struct symbol_map *map, uint64_t address, const char *file, uint32_t line)
{
	struct symbol_map_symbol hit;

	assert_true(symbol_map_find(map, address, &hit));
	assert_string_equal(hit.file, file);
	assert_int_equal(hit.line, line);
}

/* Of one function, before and after it moved, and of one without; an inlined line stands where it was called. */
static void check_lines(uint64_t offset)
{
	static const struct line lines[] = { { 0x1004, 7, "/a.js" }, { 0x1020, 9, "\xff" },
		{ 0x1030, 50, "/inlined.js" }, { 0x1040, 10, "/a.js" } };
	static const uint64_t loads[][3] = { { 0x1000, 0x100, 1 }, { 0x2000, 0x100, 2 } };
	static const uint64_t move[] = { 0x1000, 0x3000, 0x100, 1 };
	uint32_t header[10] = { 0x4a695444, 1, 40 };
	struct symbol_map *map;
	struct buffer out;

	buffer_init(&out, 1 << 16);
	buffer_append(&out, header, sizeof(header));
	put_lines(&out, 0x1000, lines, 4, offset);
	put_record(&out, 0, loads[0], 3, "first");
	put_record(&out, 0, loads[1], 3, "second");
	put_record(&out, 1, move, 4, NULL);
	map = READ_AT(write_bytes(out.data, out.size), 0x1000, 0x101f, 0x1020, 0x103f, 0x10ff, 0x2010, 0x3000, 0x301f,
		0x3020, 0x303f, 0x30ff);
	buffer_deinit(&out);
	for (uint64_t start = 0x1000; start <= 0x3000; start += 0x2000) {
		assert_line(map, start, "/a.js", 0);
		assert_line(map, start + 0x1f, "/a.js", 7);
		assert_line(map, start + 0x20, "/a.js", 9);
		assert_line(map, start + 0x3f, "/a.js", 9);
		assert_line(map, start + 0xff, "/a.js", 10);
	}
	assert_line(map, 0x2010, "", 0);
	symbol_map_destroy(map);
}

static void jitdumps_tell_lines(void **state)
{
	check_lines(0);
	check_lines(0x40); /* as V8 counts them */
}

/* ---- Code that takes the place of other code ---- */

struct stood {
	const char *name;
	int64_t from_ns, to_ns;
};

static void assert_stood(const struct symbol_map *map, uint64_t address, const struct stood *stood, size_t count)
{
	size_t found;
	const struct symbol_map_symbol *symbols = symbol_map_starting_at(map, address, &found);

	assert_int_equal(found, count);
	for (size_t i = 0; i < count; i++) {
		assert_string_equal(symbols[i].name, stood[i].name);
		assert_int_equal(symbols[i].time.from_ns, stood[i].from_ns);
		assert_int_equal(symbols[i].time.to_ns, stood[i].to_ns);
	}
}

/* Events were recorded from 1,000 to 2,000 ns. Of what was placed before, the last counts; what came later was never
 * sampled; a function that moves away has the time of its move there. */
static void times_of_a_jitdump_tell_what_stood_when(void **state)
{
	static const struct {
		uint64_t time, address;
		const char *name;
	} loads[] = { { 100, 0x1000, "long gone" }, { 900, 0x1000, "first" }, { 1200, 0x1000, "second" },
		{ 1500, 0x2000, "other" }, { 1700, 0x1000, "third" }, { 2001, 0x1000, "too late" } };
	static const uint64_t move[] = { 0x2000, 0x3000, 0x100, 4 };
	const struct jit_clock clock = { 1000, NULL };
	uint32_t header[10] = { 0x4a695444, 1, 40 };
	const uint64_t addresses[] = { 0x1010, 0x2010, 0x3010 };
	struct symbol_map *map;
	struct buffer out;

	for (uint64_t flags = 0; flags < 2; flags++) {
		buffer_init(&out, 1 << 16);
		memcpy(&header[8], &flags, sizeof(flags));
		buffer_append(&out, header, sizeof(header));
		for (uint64_t i = 0; i < sizeof(loads) / sizeof(*loads); i++)
			put_timed_record(&out, 0, loads[i].time, (const uint64_t[]){ loads[i].address, 0x100, i + 1 },
				3, loads[i].name);
		put_timed_record(&out, 1, 1600, move, 4, NULL);
		map = read_with_clock(write_bytes(out.data, out.size), &clock, addresses, 3);
		buffer_deinit(&out);
		if (flags == 0) {
			assert_stood(map, 0x1010,
				(struct stood[]){ { "first", -100, -100 }, { "second", 200, 200 },
					{ "third", 700, 700 }, { "too late", 1001, 1001 } },
				4);
			assert_stood(map, 0x3010, (struct stood[]){ { "other", 600, 600 } }, 1);
		} else { /* times of the processor's counter say nothing */
			assert_stood(map, 0x3010, (struct stood[]){ { "other", INT64_MIN, INT64_MAX } }, 1);
			assert_found(map, 0x1010, "too late", "");
		}
		symbol_map_destroy(map);
	}
}

/* Lines have the times between which the file grew by them. */
static void sizes_of_a_perf_map_tell_what_stood_when(void **state)
{
	static const char before[] = "1000 100 long gone\n1000 100 first\n", then[] = "1000 100 second\n",
			  later[] = "1000 100 third\n2000 10 other\n", unseen[] = "1000 10 fourth\n";
	char text[sizeof(before) + sizeof(then) + sizeof(later) + sizeof(unseen)];
	struct profile_growth_step steps[] = { { 0, 990, strlen(before) },
		{ 1200, 1250, strlen(before) + strlen(then) },
		{ 1300, 1400, strlen(before) + strlen(then) + strlen(later) } };
	const struct profile_growth growth = { steps, 3 };
	const uint64_t addresses[] = { 0x1008, 0x1010, 0x2000 };
	struct symbol_map *map;

	snprintf(text, sizeof(text), "%s%s%s%s", before, then, later, unseen);
	map = read_with_clock(write_file(text), &(struct jit_clock){ 1000, &growth }, addresses, 3);
	assert_stood(map, 0x1008,
		(struct stood[]){ { "first", -1000, -10 }, { "second", 200, 250 }, { "third", 300, 400 },
			{ "fourth", 400, INT64_MAX } },
		4);
	assert_stood(map, 0x1010,
		(struct stood[]){ { "first", -1000, -10 }, { "second", 200, 250 }, { "third", 300, 400 } }, 3);
	assert_stood(map, 0x2000, (struct stood[]){ { "other", 300, 400 } }, 1);
	symbol_map_destroy(map);
	map = READ_AT(write_file(text), 0x1010);
	assert_stood(map, 0x1010,
		(struct stood[]){ { "long gone", INT64_MIN, INT64_MAX }, { "first", INT64_MIN, INT64_MAX },
			{ "second", INT64_MIN, INT64_MAX }, { "third", INT64_MIN, INT64_MAX } },
		4);
	symbol_map_destroy(map);
}

/* ---- Files that are larger than what they hold ---- */

enum { WATCHDOG_SECONDS = 30 };

static void write_at(const struct file_opened *file, uint64_t offset, const void *bytes, size_t size)
{
	assert_int_equal(pwrite(file->fd, bytes, size, (off_t)offset), size);
}

/* Two lines with 200 GB of nothing before, between and after them; a third is cut by a hole. */
static void holes_of_a_perf_map_are_not_read(void **state)
{
	static const char first[] = "\n1000 100 first\n2000 100 cut", second[] = "\n3000 100 second\n";
	const uint64_t hole = (uint64_t)200 << 30;
	struct file_opened file = write_file("");
	struct symbol_map_symbol hit;
	struct symbol_map *map;

	write_at(&file, hole, first, strlen(first));
	write_at(&file, 2 * hole, second, strlen(second));
	assert_int_equal(ftruncate(file.fd, (off_t)(3 * hole)), 0);
	alarm(WATCHDOG_SECONDS);
	map = READ_AT(file, 0x1010, 0x2010, 0x3010);
	alarm(0);
	assert_found(map, 0x1010, "first", "");
	assert_found(map, 0x3010, "second", "");
	assert_false(symbol_map_find(map, 0x2010, &hit));
	symbol_map_destroy(map);
}

/* Each line covers all addresses, as many as a long recording has. */
static void lines_over_all_addresses_cost_what_others_do(void **state)
{
	enum { LINES = 300000, ADDRESSES = 200000 };
	uint64_t *addresses = malloc(ADDRESSES * sizeof(*addresses));
	struct symbol_map *map;
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	assert_non_null(addresses);
	buffer_init(&text, 1 << 26);
	for (size_t i = 0; i < ADDRESSES; i++)
		addresses[i] = 0x1000 + i;
	for (size_t i = 0; i < LINES; i++)
		buffer_append_string(&text, "1 ffffffff old\n");
	buffer_append_string(&text, "1000 10 newer\n1fff ffffffffffffffff last\n");
	alarm(WATCHDOG_SECONDS);
	map = read_at(write_bytes(text.data, text.size), addresses, ADDRESSES);
	alarm(0);
	assert_found(map, 0x100f, "newer", "");
	assert_found(map, 0x1010, "old", "");
	assert_found(map, 0x1fff, "last", "");
	assert_found(map, addresses[ADDRESSES - 1], "last", "");
	symbol_map_destroy(map);
	free(addresses);
}

/* The code of a jitdump is not read: here it is 2 GB of nothing in each of 100 functions. */
static void code_in_a_jitdump_is_passed_over(void **state)
{
	enum { FUNCTIONS = 100 };
	const uint32_t record_bytes = (uint32_t)2 << 30;
	uint32_t header[10] = { 0x4a695444, 1, 40 };
	struct file_opened file = write_bytes(header, sizeof(header));
	uint64_t addresses[FUNCTIONS], at = sizeof(header);
	struct symbol_map *map;
	struct buffer out;
	char name[32];

	for (uint64_t i = 0; i < FUNCTIONS; i++, at += record_bytes) {
		const uint64_t load[] = { (i + 1) << 32, 0x100, i };

		addresses[i] = load[0];
		snprintf(name, sizeof(name), "function_%u", (unsigned int)i);
		buffer_init(&out, 1 << 12);
		put_record(&out, 0, load, 3, name);
		memcpy(out.data + sizeof(record_bytes), &record_bytes, sizeof(record_bytes));
		write_at(&file, at, out.data, out.size);
		buffer_deinit(&out);
	}
	assert_int_equal(ftruncate(file.fd, (off_t)at), 0);
	alarm(WATCHDOG_SECONDS);
	map = read_at(file, addresses, FUNCTIONS);
	alarm(0);
	assert_found(map, addresses[FUNCTIONS - 1], name, "");
	symbol_map_destroy(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_perf_maps_and_the_last_write_wins),
		cmocka_unit_test(a_new_function_within_an_old_one_leaves_its_rest),
		cmocka_unit_test(an_empty_file_is_an_empty_map),
		cmocka_unit_test(large_maps_are_read_in_pieces),
		cmocka_unit_test(reads_jitdumps),
		cmocka_unit_test(jitdumps_tell_lines),
		cmocka_unit_test(times_of_a_jitdump_tell_what_stood_when),
		cmocka_unit_test(sizes_of_a_perf_map_tell_what_stood_when),
		cmocka_unit_test(holes_of_a_perf_map_are_not_read),
		cmocka_unit_test(lines_over_all_addresses_cost_what_others_do),
		cmocka_unit_test(code_in_a_jitdump_is_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
