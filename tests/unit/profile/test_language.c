/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/profile.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

#define LANGUAGE(name) PROFILE_LANGUAGE_##name

static const struct {
	const char *name, *module;
	enum profile_language language, interpreted;
} cases[] = {
	{ "main", "server", LANGUAGE(NATIVE), LANGUAGE(NATIVE) },
	{ "malloc", "libc.so", LANGUAGE(NATIVE), LANGUAGE(NATIVE) },
	{ "[waiting: lock]", "", LANGUAGE(NATIVE), LANGUAGE(NATIVE) },
	{ "do_syscall_64", "[kernel.kallsyms]", LANGUAGE(KERNEL), LANGUAGE(NATIVE) },
	{ "clock_gettime", "[vdso]", LANGUAGE(NATIVE), LANGUAGE(NATIVE) },
	/* Python */
	{ "py::S.run:/srv/app/w.py", "[jit]", LANGUAGE(PYTHON), LANGUAGE(NATIVE) },
	{ "py::S.run:/srv/app/w.py", "", LANGUAGE(PYTHON), LANGUAGE(NATIVE) },
	{ "py::f.<locals>.<lambda>:<frozen runpy>", "[jit]", LANGUAGE(PYTHON), LANGUAGE(NATIVE) },
	{ PROFILE_PYTHON_GONE, "[jit]", LANGUAGE(PYTHON), LANGUAGE(NATIVE) },
	{ "py::detail::cast", "libx.so", LANGUAGE(NATIVE), LANGUAGE(NATIVE) },
	{ "py::cast", "libx.so", LANGUAGE(NATIVE), LANGUAGE(NATIVE) },
	{ "list_append", "python3.11", LANGUAGE(NATIVE), LANGUAGE(PYTHON) },
	{ "PyObject_Call", "libpython3.12.so", LANGUAGE(NATIVE), LANGUAGE(PYTHON) },
	{ "scan_once_unicode", "_json.cpython-312-x86_64-linux-gnu.so", LANGUAGE(NATIVE), LANGUAGE(NATIVE) },
	{ "main", "pythonic", LANGUAGE(NATIVE), LANGUAGE(NATIVE) },
	/* PHP */
	{ "php::App\\Shop::price:/srv/shop.php", "[jit]", LANGUAGE(PHP), LANGUAGE(NATIVE) },
	{ "php::{closure:App\\Shop::price()}:/srv/shop.php", "[jit]", LANGUAGE(PHP), LANGUAGE(NATIVE) },
	{ "php::preg_match:" PROFILE_PHP_INTERNAL_FILE, "[jit]", LANGUAGE(PHP), LANGUAGE(NATIVE) },
	{ PROFILE_PHP_GONE, "[jit]", LANGUAGE(PHP), LANGUAGE(NATIVE) },
	{ "php::cast", "libx.so", LANGUAGE(NATIVE), LANGUAGE(NATIVE) },
	{ "zend_call_function", "php8.2", LANGUAGE(NATIVE), LANGUAGE(PHP) },
	/* Ruby */
	{ "rb::block in price:/srv/shop.rb", "[jit]", LANGUAGE(RUBY), LANGUAGE(NATIVE) },
	{ "rb::<class:Shop>:/srv/shop.rb", "[jit]", LANGUAGE(RUBY), LANGUAGE(NATIVE) },
	{ PROFILE_RUBY_GONE, "[jit]", LANGUAGE(RUBY), LANGUAGE(NATIVE) },
	{ "rb::Value::call", "libx.so", LANGUAGE(NATIVE), LANGUAGE(NATIVE) },
	{ "rb_ary_each", "libruby-3.3.so", LANGUAGE(NATIVE), LANGUAGE(RUBY) },
	/* JavaScript */
	{ "JS:*sum /srv/x.js:1:2", "[jit]", LANGUAGE(JAVASCRIPT), LANGUAGE(NATIVE) },
	{ "LazyCompile:~sum file:///srv/x.js:1:2", "[jit]", LANGUAGE(JAVASCRIPT), LANGUAGE(NATIVE) },
	{ "Builtin:ArrayPush", "[jit]", LANGUAGE(NATIVE), LANGUAGE(NATIVE) },
	{ "v8::internal::Heap::CollectGarbage", "node", LANGUAGE(NATIVE), LANGUAGE(NATIVE) },
	{ "Builtins_LdaNamedPropertyHandler", "node", LANGUAGE(NATIVE), LANGUAGE(JAVASCRIPT) },
	{ "Builtins_InterpreterEntryTrampoline", "libnode.so", LANGUAGE(NATIVE), LANGUAGE(JAVASCRIPT) },
	{ "Builtins_InterpreterEntryTrampoline", "node20", LANGUAGE(NATIVE), LANGUAGE(JAVASCRIPT) },
	{ "Builtins_BaselineOutOfLinePrologue", "node", LANGUAGE(NATIVE), LANGUAGE(JAVASCRIPT) },
	{ "Builtins_Add_Baseline", "node", LANGUAGE(NATIVE), LANGUAGE(JAVASCRIPT) },
	{ "Builtins_LoadIC_Megamorphic", "node", LANGUAGE(NATIVE), LANGUAGE(JAVASCRIPT) },
	{ "Builtins_ArrayMap", "node", LANGUAGE(NATIVE), LANGUAGE(NATIVE) },
	{ "Builtins_LdaNamedPropertyHandler", "server", LANGUAGE(NATIVE), LANGUAGE(NATIVE) },
	/* Java */
	{ "Ljava/util/HashMap;::get", "[jit]", LANGUAGE(JAVA), LANGUAGE(NATIVE) },
	{ "void demo.Server.run()", "[jit]", LANGUAGE(JAVA), LANGUAGE(NATIVE) },
	{ "Interpreter", "[jit]", LANGUAGE(NATIVE), LANGUAGE(NATIVE) },
	{ "StubRoutines (2)", "[jit]", LANGUAGE(NATIVE), LANGUAGE(NATIVE) },
	{ "JVM_Clone", "libjvm.so", LANGUAGE(NATIVE), LANGUAGE(NATIVE) },
	{ "main.(*Server).run", "server", LANGUAGE(NATIVE), LANGUAGE(NATIVE) },
	{ "[jit]+0x1234", "[jit]", LANGUAGE(NATIVE), LANGUAGE(NATIVE) },
};

static void test_languages_by_name_and_module(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		enum profile_language language = profile_language_of(cases[i].name, cases[i].module);
		enum profile_language interpreted = profile_language_interpreted_by(cases[i].name, cases[i].module);

		if (language != cases[i].language || interpreted != cases[i].interpreted)
			fail_msg("%s in %s: %s, interprets %s", cases[i].name, cases[i].module,
				profile_languages[language].name, profile_languages[interpreted].name);
	}
}

static void test_names_of_scripts_have_parts(void **state)
{
	static const char *const others[] = { "", "py", "py::", "py:::w.py", "py::f", "py::f:", "py::a::b", "f:w.py",
		"JS", "js:f /x.js:1:2", "f /x.js:1:2", "Builtin:ArrayPush", "RegExp:a" };
	static const struct {
		const char *name, *function, *file;
		uint32_t line;
		enum profile_language language;
	} parts[] = {
		{ "py::S.run:/srv/a:b/w.py", "S.run", "/srv/a:b/w.py", 0, LANGUAGE(PYTHON) },
		{ "JS:*f /srv/x.js:12:3", "f", "/srv/x.js", 12, LANGUAGE(JAVASCRIPT) },
		{ "JS:~f /srv/x.js:12:3", "f", "/srv/x.js", 12, LANGUAGE(JAVASCRIPT) },
		{ "JS:^f /srv/x.js:12", "f", "/srv/x.js", 12, LANGUAGE(JAVASCRIPT) },
		{ "JS:+get f file:///srv/my app/x.js:12:3", "get f", "file:///srv/my app/x.js", 12,
			LANGUAGE(JAVASCRIPT) },
		{ "LazyCompile:*f node:events:12:3", "f", "node:events", 12, LANGUAGE(JAVASCRIPT) },
		{ "JS:~ /srv/x.js:1:1", "", "/srv/x.js", 1, LANGUAGE(JAVASCRIPT) },
		{ "JS:*f", "f", "", 0, LANGUAGE(JAVASCRIPT) },
		{ "JS:", "", "", 0, LANGUAGE(JAVASCRIPT) },
		{ "JS:f :1:2", "f", "", 1, LANGUAGE(JAVASCRIPT) },
		{ "JS:f x.js:99999999999:2", "f", "x.js:99999999999", 2, LANGUAGE(JAVASCRIPT) },
	};
	struct profile_script_name found;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		assert_int_equal(profile_script_name(parts[i].name, &found), parts[i].language);
		if (found.function_bytes != strlen(parts[i].function) || found.file_bytes != strlen(parts[i].file) ||
			strncmp(found.function, parts[i].function, found.function_bytes) != 0 ||
			strncmp(found.file, parts[i].file, found.file_bytes) != 0 || found.line != parts[i].line)
			fail_msg("%s: '%.*s' in '%.*s' at %u", parts[i].name, (int)found.function_bytes, found.function,
				(int)found.file_bytes, found.file, found.line);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (profile_script_name(others[i], &found) != LANGUAGE(NATIVE))
			fail_msg("'%s' is none of a script", others[i]);
}

static void test_stubs_of_runtimes(void **state)
{
	assert_true(profile_is_generated_stub("Builtin:ArrayPush"));
	assert_true(profile_is_generated_stub("StubRoutines (2)"));
	assert_true(profile_is_generated_stub("throw_range_check_failed Runtime1 stub"));
	assert_false(profile_is_generated_stub("JS:*sum /srv/x.js:1:2"));
	assert_false(profile_is_generated_stub("void demo.Server.run()"));
}

static void test_each_language_has_a_word(void **state)
{
	for (int i = 0; i < PROFILE_LANGUAGE_COUNT; i++)
		assert_true(profile_languages[i].name[0] != '\0');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_languages_by_name_and_module),
		cmocka_unit_test(test_names_of_scripts_have_parts),
		cmocka_unit_test(test_stubs_of_runtimes),
		cmocka_unit_test(test_each_language_has_a_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
