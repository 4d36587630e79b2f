/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Code of PHP and Ruby in memory that means harm: it has its name and lines, or counts as gone. */
#include "process_fixture.h"
#include "script_memory_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

enum { COPIED_BYTES = 256, COPIED_TABLE_BYTES = 1024 };

static const uint64_t second_ns = 1000000000;

struct codes {
	struct fixture *fixture;
	struct script_memory memory;
	struct process_host before;
	struct interpreter_names names;
	struct interpreter_codes *php, *ruby;
	uint64_t clock_ns;
};

static void start(struct codes *codes, void **state)
{
	static const struct process_host_functions functions = { .read_memory = script_memory_read };
	struct php_code_reader *php;
	struct ruby_code_reader *ruby;
	struct error err;

	codes->fixture = *state;
	codes->clock_ns = 10 * second_ns;
	codes->before = codes->fixture->table.host;
	codes->fixture->table.host = (struct process_host){ &functions, &codes->memory };
	script_memory_init(&codes->memory);
	interpreter_names_init(&codes->names, &codes->fixture->table);
	assert_true(php_code_reader_create(&codes->fixture->table.host, &php, &err));
	assert_true(interpreter_codes_create(&codes->names, &php_code_reads, php, &codes->php, &err));
	assert_true(ruby_code_reader_create(&codes->fixture->table.host, &ruby, &err));
	assert_true(interpreter_codes_create(&codes->names, &ruby_code_reads, ruby, &codes->ruby, &err));
}

static void end(struct codes *codes)
{
	interpreter_codes_destroy(codes->php);
	interpreter_codes_destroy(codes->ruby);
	interpreter_names_deinit(&codes->names);
	codes->fixture->table.host = codes->before;
}

static struct profile_line find_php(struct codes *codes, uint64_t address, uint32_t position)
{
	struct profile_line line;
	struct error err;

	assert_true(interpreter_codes_find(
		codes->php, &script_php, PID, ebpf_frame_word(address, position, false), codes->clock_ns, &line, &err));
	return line;
}

static struct profile_line find_ruby(struct codes *codes, uint64_t address, uint32_t position)
{
	struct profile_line line;
	struct error err;

	assert_true(interpreter_codes_find(codes->ruby, &script_ruby, PID, ebpf_frame_word(address, position, false),
		codes->clock_ns, &line, &err));
	return line;
}

static void expect(struct codes *codes, struct profile_line found, const char *name, uint32_t line)
{
	const struct profile *profile = codes->fixture->profile;

	assert_string_equal(profile_string(profile, profile->functions[found.function].name), name);
	assert_int_equal(found.line, line);
}

/* What was read before is forgotten. */
static void expect_php(struct codes *codes, const char *name)
{
	interpreter_codes_forget(codes->php, PID);
	expect(codes, find_php(codes, PHP_FUNCTION, 12), name, strcmp(name, PROFILE_PHP_GONE) == 0 ? 0 : 12);
}

static void expect_ruby(struct codes *codes, const char *name, uint32_t first, uint32_t third)
{
	interpreter_codes_forget(codes->ruby, PID);
	expect(codes, find_ruby(codes, RUBY_CODE, 0), name, first);
	expect(codes, find_ruby(codes, RUBY_CODE, 2), name, third);
	expect(codes, find_ruby(codes, RUBY_CODE, EBPF_FRAME_NO_POSITION), name, 0);
}

/* ---- PHP ---- */

static void test_php_names(void **state)
{
	static const char *const files[][2] = {
		{ "/srv/a.php(12) : eval()'d code", "php::Server::serve:/srv/a.php" },
		{ "/srv/a.php(1) : eval()'d code(2) : eval()'d code", "php::Server::serve:/srv/a.php" },
		{ ") : eval()'d code", "php::Server::serve:) : eval()'d code" },
		{ "7) : eval()'d code", "php::Server::serve:7) : eval()'d code" },
		{ "(7) : eval()'d code", "php::Server::serve:" },
	};
	static const char *const functions[][2] = {
		{ "{closure:Server::serve():12}", "php::{closure:Server::serve()}:/srv/a.php" },
		{ "{closure:/srv/a.php:12}", "php::{closure}:/srv/a.php" },
		{ "{closure:{closure:{closure:", "php::{closure}:/srv/a.php" },
		{ "{closure::::::12:}", "php::{closure}:/srv/a.php" },
		{ "a\033[31m\177b\xc2\x9b", "php::Server::a\xef\xbf\xbd[31m\xef\xbf\xbd"
					    "b\xef\xbf\xbd:/srv/a.php" },
		{ "\xff\xc3", "php::Server::\xef\xbf\xbd\xef\xbf\xbd:/srv/a.php" },
	};
	struct codes codes;

	start(&codes, state);
	expect_php(&codes, "php::Server::serve:/srv/a.php");
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		script_put_php_text(&codes.memory, PHP_FILE_TEXT, files[i][0]);
		expect_php(&codes, files[i][1]);
	}
	script_put_php_text(&codes.memory, PHP_FILE_TEXT, "/srv/a.php");
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		script_put_php_text(&codes.memory, PHP_FUNCTION_TEXT, functions[i][0]);
		expect_php(&codes, functions[i][1]);
	}
	end(&codes);
}

/* Each member leads to nothing, to a text that cannot be read, or to one that has no end. */
static void test_php_that_leads_nowhere_is_gone(void **state)
{
	static const uint64_t members[] = { PHP_FUNCTION + PHP_FUNCTION_NAME, PHP_FUNCTION + 152,
		PHP_CLASS + PHP_CLASS_NAME };
	static const uint64_t wild[] = { 1, WILD, UINT64_MAX - 16, 1ULL << 47, MEMORY_AT + MEMORY_BYTES - 24,
		MEMORY_AT + 0x9000 };
	static const uint64_t lengths[] = { 0, (1 << 24) + 1, UINT64_MAX };
	struct codes codes;

	start(&codes, state);
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		for (size_t j = 0; j < sizeof(wild) / sizeof(*wild); j++) {
			script_memory_init(&codes.memory);
			script_put_word(&codes.memory, MEMORY_AT + MEMORY_BYTES - 8, 5);
			script_put_word(&codes.memory, members[i], wild[j]);
			expect_php(&codes, PROFILE_PHP_GONE);
		}
		for (size_t j = 0; j < sizeof(lengths) / sizeof(*lengths); j++) {
			script_memory_init(&codes.memory);
			script_put_word(&codes.memory,
				PHP_FUNCTION_TEXT + 0x1000 * (i == 0 ? 0 : 3 - i) + PHP_TEXT_LENGTH, lengths[j]);
			expect_php(&codes, PROFILE_PHP_GONE);
		}
	}
	script_memory_init(&codes.memory);
	script_put_word(&codes.memory, PHP_FUNCTION + PHP_FUNCTION_SCOPE, WILD);
	expect_php(&codes, PROFILE_PHP_GONE);
	expect(&codes, find_php(&codes, WILD & ~7, 1), PROFILE_PHP_GONE, 0);
	end(&codes);
}

/* A name has no end before its memory has one, and is cut. */
static void test_php_names_are_cut(void **state)
{
	enum { AT = MEMORY_AT + MEMORY_BYTES - PHP_TEXT - 3 };
	struct codes codes;
	const char *name;

	start(&codes, state);
	script_put_word(&codes.memory, PHP_FUNCTION + PHP_FUNCTION_NAME, AT);
	script_put_word(&codes.memory, AT + PHP_TEXT_LENGTH, 1 << 24);
	memset(codes.memory.bytes + MEMORY_BYTES - 3, 'x', 3);
	expect_php(&codes, "php::Server::xxx:/srv/a.php");
	script_memory_init(&codes.memory);
	for (uint64_t text = PHP_FUNCTION_TEXT; text <= PHP_FILE_TEXT; text += 0x1000) {
		memset(codes.memory.bytes + (text - MEMORY_AT) + PHP_TEXT, 0xff, 0xf00);
		script_put_word(&codes.memory, text + PHP_TEXT_LENGTH, 0xf00);
	}
	script_put_half(&codes.memory, PHP_FUNCTION + 152 + 8, UINT32_MAX);
	interpreter_codes_forget(codes.php, PID);
	name = profile_string(codes.fixture->profile,
		codes.fixture->profile->functions[find_php(&codes, PHP_FUNCTION, 1).function].name);
	assert_int_equal(strlen(name), strlen("php::") + strlen("::") + strlen(":") + (size_t)3 * (512 + 512 + 1024));
	assert_int_equal(codes.fixture->profile->functions[find_php(&codes, PHP_FUNCTION, 1).function].start_line, 0);
	end(&codes);
}

/* What the kernel copied, where it could read nothing behind the first piece. */
static void test_php_copies_lack_what_was_not_there(void **state)
{
	static const uint8_t zeros[COPIED_TABLE_BYTES];
	struct ebpf_code copy = { .pid = PID, .kind = EBPF_PHP };
	struct codes codes;
	struct error err;

	start(&codes, state);
	copy.pieces[0] =
		(struct ebpf_piece){ PHP_FUNCTION, codes.memory.bytes + (PHP_FUNCTION - MEMORY_AT), COPIED_BYTES };
	copy.pieces[1] = (struct ebpf_piece){ PHP_FUNCTION_TEXT, zeros, COPIED_BYTES };
	copy.pieces[2] = (struct ebpf_piece){ PHP_FILE_TEXT, zeros, COPIED_BYTES };
	copy.pieces[3] = (struct ebpf_piece){ 0, zeros, COPIED_TABLE_BYTES };
	assert_true(interpreter_codes_learn(codes.php, &script_php, &copy, codes.clock_ns, &err));
	expect(&codes, find_php(&codes, PHP_FUNCTION, 12), "php::Server::serve:/srv/a.php", 12);
	end(&codes);
}

/* What was at an address stays where memory was freed since, up to another function. */
static void test_php_that_was_freed_stays_known(void **state)
{
	struct codes codes;

	start(&codes, state);
	expect_php(&codes, "php::Server::serve:/srv/a.php");
	script_put_word(&codes.memory, PHP_FUNCTION + PHP_FUNCTION_TYPE, MEMORY_AT);
	script_put_word(&codes.memory, PHP_FUNCTION + 152, 0);
	for (size_t second = 0; second < 3; second++) {
		codes.clock_ns += 2 * second_ns;
		expect(&codes, find_php(&codes, PHP_FUNCTION, 12), "php::Server::serve:/srv/a.php", 12);
	}
	script_put_php_text(&codes.memory, PHP_FUNCTION_TEXT, "other");
	script_put_word(&codes.memory, PHP_FUNCTION + 152, PHP_FILE_TEXT);
	codes.clock_ns += 2 * second_ns;
	expect(&codes, find_php(&codes, PHP_FUNCTION, 12), "php::Server::other:/srv/a.php", 12);
	assert_int_equal(interpreter_codes_gone(codes.php), 0);
	end(&codes);
}

/* ---- Frames of PHP, read from outside ---- */

static struct ebpf_frames read_frames(struct codes *codes, uint64_t *words, size_t room)
{
	const struct ebpf_php php = { .frame = MEMORY_AT };
	struct ebpf_frames frames = { 0 };

	(void)php_read_frames(&codes->fixture->table.host, &php, PID, words, room, &frames);
	return frames;
}

static void test_php_frames_are_bounded(void **state)
{
	enum { FRAME = MEMORY_AT + 0xa000, MOST = 64 };
	static const uint64_t previous[] = { WILD, UINT64_MAX, MEMORY_AT + MEMORY_BYTES - 8, FRAME };
	struct ebpf_frames frames;
	uint64_t words[MOST];
	struct codes codes;

	start(&codes, state);
	assert_int_equal(read_frames(&codes, words, MOST).count, 0);
	script_put_word(&codes.memory, MEMORY_AT, FRAME);
	script_put_word(&codes.memory, FRAME + PHP_FRAME_FUNCTION, PHP_FUNCTION);
	script_put_word(&codes.memory, FRAME + PHP_FRAME_INSTRUCTION, WILD);
	frames = read_frames(&codes, words, MOST);
	assert_int_equal(frames.count, 1);
	assert_false(frames.is_cut);
	assert_int_equal(ebpf_frame_position(words[0]), EBPF_FRAME_NO_POSITION);
	for (size_t i = 0; i < sizeof(previous) / sizeof(*previous); i++) {
		script_put_word(&codes.memory, FRAME + PHP_FRAME_PREVIOUS, previous[i]);
		frames = read_frames(&codes, words, MOST);
		assert_true(frames.is_cut);
		assert_int_equal(frames.count, previous[i] == FRAME ? MOST : 1);
	}
	/* A cycle of frames that stand for no function. */
	script_put_word(&codes.memory, FRAME + PHP_FRAME_FUNCTION, 0);
	codes.memory.reads = 0;
	assert_int_equal(read_frames(&codes, words, MOST).count, 0);
	assert_in_range(codes.memory.reads, MOST, 4 * MOST);
	end(&codes);
}

/* ---- Ruby ---- */

static const char ruby_name[] = "rb::block in serve:/srv/a.rb";

static void test_ruby_names(void **state)
{
	static const char *const files[][2] = {
		{ "(eval at /srv/a.rb:12)", "rb::block in serve:(eval at /srv/a.rb)" },
		{ "(eval at ", "rb::block in serve:(eval at " },
		{ "(eval at 7)", "rb::block in serve:(eval at 7)" },
		{ "(eval at :7)", "rb::block in serve:(eval at :7)" },
		{ "a\033\177\xc2\x9b\xff", "rb::block in serve:a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
	};
	struct codes codes;

	start(&codes, state);
	expect_ruby(&codes, ruby_name, 10, 12);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		script_put_ruby_text(&codes.memory, RUBY_PATH, RUBY_PATH_TEXT, files[i][0]);
		expect_ruby(&codes, files[i][1], 10, 12);
	}
	end(&codes);
}

static void test_ruby_that_leads_nowhere_is_gone(void **state)
{
	static const uint64_t members[] = { RUBY_CODE + RUBY_CODE_BODY, RUBY_BODY + RUBY_BODY_PATH,
		RUBY_BODY + RUBY_BODY_LABEL, RUBY_LABEL + RUBY_TEXT_POINTER, RUBY_PATH + RUBY_TEXT_POINTER,
		RUBY_PATHS + RUBY_ARRAY + 8 };
	static const uint64_t wild[] = { 0, 1, WILD, UINT64_MAX - 7, UINT64_MAX, 1ULL << 47, MEMORY_AT + MEMORY_BYTES };
	static const uint64_t flags[] = { 0, 0x1a, 0x601a, 0x7005, UINT64_MAX };
	struct codes codes;

	start(&codes, state);
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
		for (size_t j = 0; j < sizeof(wild) / sizeof(*wild); j++) {
			script_memory_init(&codes.memory);
			script_put_word(&codes.memory, members[i], wild[j]);
			expect_ruby(&codes, PROFILE_RUBY_GONE, 0, 0);
		}
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		script_memory_init(&codes.memory);
		script_put_word(&codes.memory, RUBY_CODE, flags[i]);
		expect_ruby(&codes, PROFILE_RUBY_GONE, 0, 0);
	}
	script_memory_init(&codes.memory);
	script_put_word(&codes.memory, RUBY_LABEL + RUBY_TEXT_LENGTH, UINT64_MAX);
	expect_ruby(&codes, PROFILE_RUBY_GONE, 0, 0);
	end(&codes);
}

/* Tables of lines that are too long, that are nowhere, or whose counts lead beyond their entries. */
static void test_ruby_lines_are_within_their_table(void **state)
{
	struct codes codes;

	start(&codes, state);
	script_put_half(&codes.memory, RUBY_BODY + RUBY_BODY_SIZE, UINT32_MAX);
	expect_ruby(&codes, ruby_name, 0, 0);
	script_put_half(&codes.memory, RUBY_BODY + RUBY_BODY_SIZE, 0);
	expect_ruby(&codes, ruby_name, 0, 0);
	script_memory_init(&codes.memory);
	script_put_half(&codes.memory, RUBY_BODY + script_ruby.line_count, UINT32_MAX);
	expect_ruby(&codes, ruby_name, 0, 0);
	script_put_half(&codes.memory, RUBY_BODY + script_ruby.line_count, 0);
	expect_ruby(&codes, ruby_name, 0, 0);
	script_put_half(&codes.memory, RUBY_BODY + script_ruby.line_count, 1);
	expect_ruby(&codes, ruby_name, 10, 10);
	script_memory_init(&codes.memory);
	script_put_word(&codes.memory, RUBY_COUNTS, 1 | 3 << 14);
	expect_ruby(&codes, ruby_name, 10, 0);
	script_put_word(&codes.memory, RUBY_BODY + script_ruby.line_table, WILD);
	expect_ruby(&codes, ruby_name, 0, 0);
	script_memory_init(&codes.memory);
	script_put_word(&codes.memory, RUBY_BODY + script_ruby.lines, MEMORY_AT + MEMORY_BYTES - 8);
	expect_ruby(&codes, ruby_name, 0, 0);
	script_memory_init(&codes.memory);
	script_put_half(&codes.memory, RUBY_LINES, UINT32_MAX);
	script_put_half(&codes.memory, RUBY_BODY + RUBY_BODY_SIZE, 1 << 15);
	expect_ruby(&codes, ruby_name, 0, 12);
	end(&codes);
}

/* Behind the first positions: the 10th of the second block has the third entry. */
static void test_ruby_lines_in_blocks(void **state)
{
	enum { FIRST = 54, BLOCK = 512, BLOCK_BYTES = 80, POSITION = FIRST + BLOCK + 9 };
	const uint64_t block = RUBY_COUNTS + 48 + BLOCK_BYTES;
	struct codes codes;

	start(&codes, state);
	script_put_half(&codes.memory, RUBY_BODY + RUBY_BODY_SIZE, POSITION + 1);
	script_put_half(&codes.memory, RUBY_BODY + script_ruby.line_count, 3);
	script_put_half(&codes.memory, RUBY_LINES + 2 * script_ruby.line_bytes, 99);
	script_put_half(&codes.memory, block, 2);
	script_put_word(&codes.memory, block + 16, 1 << 9);
	expect(&codes, find_ruby(&codes, RUBY_CODE, POSITION), ruby_name, 99);
	expect(&codes, find_ruby(&codes, RUBY_CODE, POSITION - 1), ruby_name, 12);
	expect(&codes, find_ruby(&codes, RUBY_CODE, FIRST + 1), ruby_name, 0);
	expect(&codes, find_ruby(&codes, RUBY_CODE, POSITION + 1), ruby_name, 0);
	end(&codes);
}

/* A copy has the texts themselves. */
static void test_ruby_copies_lack_what_was_not_there(void **state)
{
	static const uint8_t zeros[COPIED_TABLE_BYTES];
	struct ebpf_code copy = { .pid = PID, .kind = EBPF_RUBY };
	struct codes codes;
	struct error err;

	start(&codes, state);
	copy.pieces[0] = (struct ebpf_piece){ RUBY_CODE, codes.memory.bytes + (RUBY_CODE - MEMORY_AT), COPIED_BYTES };
	copy.pieces[1] = (struct ebpf_piece){ RUBY_BODY, codes.memory.bytes + (RUBY_BODY - MEMORY_AT), COPIED_BYTES };
	copy.pieces[2] = (struct ebpf_piece){ RUBY_LABEL_TEXT, zeros, COPIED_BYTES };
	copy.pieces[3] = (struct ebpf_piece){ RUBY_PATH_TEXT, (const uint8_t *)"/srv/copied.rb", 15 };
	assert_true(interpreter_codes_learn(codes.ruby, &script_ruby, &copy, codes.clock_ns, &err));
	expect(&codes, find_ruby(&codes, RUBY_CODE, 0), ruby_name, 10);
	interpreter_codes_forget(codes.ruby, PID);
	copy.pieces[2] = (struct ebpf_piece){ RUBY_LABEL_TEXT, (const uint8_t *)"copied", 6 };
	assert_true(interpreter_codes_learn(codes.ruby, &script_ruby, &copy, codes.clock_ns, &err));
	expect(&codes, find_ruby(&codes, RUBY_CODE, 0), "rb::copied:/srv/copied.rb", 10);
	end(&codes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROCESS_TEST(test_php_names),
		PROCESS_TEST(test_php_that_leads_nowhere_is_gone),
		PROCESS_TEST(test_php_names_are_cut),
		PROCESS_TEST(test_php_copies_lack_what_was_not_there),
		PROCESS_TEST(test_php_that_was_freed_stays_known),
		PROCESS_TEST(test_php_frames_are_bounded),
		PROCESS_TEST(test_ruby_names),
		PROCESS_TEST(test_ruby_that_leads_nowhere_is_gone),
		PROCESS_TEST(test_ruby_lines_are_within_their_table),
		PROCESS_TEST(test_ruby_lines_in_blocks),
		PROCESS_TEST(test_ruby_copies_lack_what_was_not_there),
	};

	return cmocka_run_group_tests_name("script_codes", tests, NULL, NULL);
}
