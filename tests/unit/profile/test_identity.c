/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/profile.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

struct identity_case {
	const char *name, *module, *key;
	const char *file; /* NULL: it is not known */
	uint32_t line;    /* 0: it is not known */
};

static void expect_key(const struct identity_case *c, uint64_t fingerprint)
{
	CLEANUP(buffer_deinit) struct buffer key = { 0 };

	buffer_init(&key, 1 << 16);
	profile_function_key(&(struct profile_key_source){ .name = c->name,
				     .module = c->module,
				     .file = c->file ? c->file : "",
				     .line = c->line,
				     .fingerprint = fingerprint },
		&key);
	assert_false(key.failed);
	if (strcmp(key.data, c->key) != 0)
		fail_msg("%s in %s has the key %s, expected %s", c->name, c->module, key.data, c->key);
}

#define EXPECT_KEYS(cases)                                                                                             \
	for (size_t i = 0; i < sizeof(cases) / sizeof(*(cases)); i++)                                                  \
	expect_key(&(cases)[i], 0)

static void names_that_stay(void **state)
{
	static const struct identity_case cases[] = {
		{ "main", "server", "main`server" },
		{ "main", "", "main`" },
		{ "", "server", "`server" },
		{ "operator new(unsigned long)", "libstdc++.so", "operator new(unsigned long)`libstdc++.so" },
		{ "operator<", "a", "operator<`a" },
		{ "void f<(lambda at x.cc:1:2)>()", "a", "void f<(lambda at x.cc:1:2)>()`a" },
		{ "std::vector<int>::push_back(int&&)", "a", "std::vector<int>::push_back(int&&)`a" },
		{ "f(int) const", "a", "f(int) const`a" },
		{ "Foo::bar()::baz", "a", "Foo::bar()::baz`a" },
		{ "memcpy@plt", "server", "memcpy@plt`server" },
		{ "read.partial", "a", "read.partial`a" },
		{ "part", "a", "part`a" },
		{ "isra", "a", "isra`a" },
		{ "name.0x12", "a", "name.0x12`a" },
		{ ".text", "a", ".text`a" },
		{ ".cold", "a", ".cold`a" },
		{ "entry_SYSCALL_64_after_hwframe", "[kernel.kallsyms]",
			"entry_SYSCALL_64_after_hwframe`[kernel.kallsyms]" },
		{ "nf_hook [nf_tables]", "[kernel.kallsyms]", "nf_hook [nf_tables]`[kernel.kallsyms]" },
		{ "core::ptr::drop_in_place<alloc::string::String>", "r",
			"core::ptr::drop_in_place<alloc::string::String>`r" },
		{ "crate::hash::hello", "r", "crate::hash::hello`r" },
		{ "<T as core::fmt::Display>::fmt", "r", "<T as core::fmt::Display>::fmt`r" },
		{ "main.(*Server).handle", "g", "main.(*Server).handle`g" },
		{ "main.Map[go.shape.int]", "g", "main.Map[go.shape.int]`g" },
		{ "runtime.mallocgc", "g", "runtime.mallocgc`g" },
		{ "encoding/json.(*decodeState).object", "g", "encoding/json.(*decodeState).object`g" },
		{ "-[NSString length]", "a", "-[NSString length]`a" },
		{ "_PyEval_EvalFrameDefault", "python3.11", "_PyEval_EvalFrameDefault`python3.11" },
		{ "Java_com_example_Native_run", "libnative.so", "Java_com_example_Native_run`libnative.so" },
		{ "caf\xc3\xa9", "a", "caf\xc3\xa9`a" },
		{ "a;b c", "a", "a;b c`a" },
		{ "user@example", "a", "user`a" }, /* a symbol version, whoever wrote it */
		{ "@plt", "a", "@plt`a" },
		{ "libz.so+0x", "libz.so", "libz.so+0x`libz.so" },
		{ "libz.so+0xZZ", "libz.so", "libz.so+0xZZ`libz.so" },
		{ "other.so+0x12", "libz.so", "other.so+0x12`libz.so" },
	};

	EXPECT_KEYS(cases);
}

static void what_a_compiler_adds_is_cut(void **state)
{
	static const struct identity_case cases[] = {
		{ "parse.isra.0", "a", "parse`a" },
		{ "parse.isra.12", "a", "parse`a" },
		{ "parse.constprop.1", "a", "parse`a" },
		{ "parse.part.2", "a", "parse`a" },
		{ "parse.cold", "a", "parse`a" },
		{ "parse.cold.3", "a", "parse`a" },
		{ "parse.isra.0.cold", "a", "parse`a" },
		{ "parse.constprop.0.isra.0.part.1.cold", "a", "parse`a" },
		{ "parse.llvm.1234567890123456789", "a", "parse`a" },
		{ "parse.lto_priv.4", "a", "parse`a" },
		{ "parse.lto_priv.4.lto_priv.2", "a", "parse`a" },
		{ "parse.localalias", "a", "parse`a" },
		{ "parse.__uniq.123456", "a", "parse`a" },
		{ "ns::f(int) [clone .isra.0]", "a", "ns::f(int)`a" },
		{ "ns::f(int) [clone .constprop.1] [clone .cold]", "a", "ns::f(int)`a" },
		{ "ns::f(int) const [clone .part.0]", "a", "ns::f(int) const`a" },
		{ "memcpy@@GLIBC_2.14", "libc.so", "memcpy`libc.so" },
		{ "memcpy@GLIBC_2.2.5", "libc.so", "memcpy`libc.so" },
		{ "finish_task_switch.isra.0", "[kernel.kallsyms]", "finish_task_switch`[kernel.kallsyms]" },
	};

	EXPECT_KEYS(cases);
}

/* What differs in any two builds is no part of a function; a number by which two functions of one build differ is. */
static void what_a_rebuild_draws_is_cut(void **state)
{
	static const struct identity_case cases[] = {
		{ "core::fmt::write::h0123456789abcdef", "r", "core::fmt::write`r" },
		{ "app::run::h0123456789abcdef.llvm.77", "r", "app::run`r" },
		{ "app::run::h0123456789ABCDEF", "r", "app::run::h0123456789ABCDEF`r" },
		{ "app::run::h0123456789abcde", "r", "app::run::h0123456789abcde`r" },
		{ "app::run::{{closure}}::h0123456789abcdef", "r", "app::run::{{closure}}`r" },
		{ "app::run::{closure#3}", "r", "app::run::{closure#3}`r" },
		{ "run()::{lambda(int)#2}::operator()(int) const", "a",
			"run()::{lambda(int)#2}::operator()(int) const`a" },
		{ "run()::$_12::operator()() const", "a", "run()::$_12::operator()() const`a" },
		{ "main.run.func12.3", "g", "main.run.func12.3`g" },
		{ "int Hot$$Lambda$1/0x00007f034c000400.f(int)", "[jit]",
			"int Hot$$Lambda$1/0x00007f034c000400.f(int)`[jit]" },
	};

	EXPECT_KEYS(cases);
}

static void one_name_has_one_spelling(void **state)
{
	static const struct identity_case cases[] = {
		{ "std::__cxx11::to_string[abi:cxx11](int)", "a", "std::to_string(int)`a" },
		{ "std::vector<int, std::allocator<int> >::push_back(int&&)", "a",
			"std::vector<int>::push_back(int&&)`a" },
		{ "ns::Class::method(int, char const*)", "a", "ns::Class::method(int,char const*)`a" },
		{ "f(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const&)", "a",
			"f(std::string const&)`a" },
		{ "std::__1::map<int, int, std::__1::less<int>, std::__1::allocator<std::__1::pair<int const, int> > >::find",
			"a", "std::map<int,int>::find`a" },
		{ "std::basic_ostream<wchar_t>::put", "a", "std::basic_ostream<wchar_t>::put`a" },
		{ "std::basic_ostream<char, std::char_traits<char> >::put", "a", "std::ostream::put`a" },
		{ "{anonymous}::parse(int)", "a", "(anonymous namespace)::parse(int)`a" },
		{ "parse(int) (.isra.0)", "a", "parse(int)`a" },
		{ "f(long unsigned int)", "a", "f(unsigned long)`a" },
		{ "mylong int", "a", "mylong int`a" },
		{ "std::vector<int>::push_back[abi:ne180100](int)", "a", "std::vector<int>::push_back(int)`a" },
		{ "std::allocator<int>::allocate", "a", "std::allocator<int>::allocate`a" },
		{ "f(int, std::allocator<", "a", "f(int,std::allocator<`a" },
		{ "java/util/HashMap.get_[j]", "", "java.util.HashMap.get`" },
		{ "java/util/HashMap.get(Ljava/lang/Object;)V", "", "java.util.HashMap.get(Ljava.lang.Object;)V`" },
		{ "net/http.(*conn).serve", "g", "net/http.(*conn).serve`g" },
		{ "github.com/Sirupsen/logrus.Info", "g", "github.com/Sirupsen/logrus.Info`g" },
		{ "Acme!Svc.Find(string)[OptimizedTier1]", "", "Acme!Svc.Find(string)`" },
		{ "do_syscall_64_[k]", "", "do_syscall_64`" },
		{ "runtime.memmove.abi0", "g", "runtime.memmove`g" },
	};

	EXPECT_KEYS(cases);
}

/* Any two files may have static functions of one name, and scripts functions; the path of the sources says nothing. */
static void files_tell_functions_apart(void **state)
{
	static const struct identity_case cases[] = {
		{ "call", "app", "call`a.c`app", "/app/a.c", 10 },
		{ "call", "app", "call`b.c`app", "/builds/7/b.c", 0 },
		{ "call", "app", "call`app", "", 10 },
		{ "shop::call", "app", "shop::call`app", "/app/a.cc", 10 },
		{ "(anonymous namespace)::call", "app", "(anonymous namespace)::call`a.cc`app", "/app/a.cc", 10 },
		{ "main.call", "app", "main.call`app", "/app/a.go", 10 },
		{ "call", "app", "call`app", "/", 10 },
		{ "py::call:/app/a.py", "[jit]", "py::call:/app/a.py`[jit]", "/app/a.py", 10 },
		{ "py::f.<locals>.<lambda>:/app/a.py", "[jit]", "py::f.<locals>.<lambda>:/app/a.py:10`[jit]",
			"/app/a.py", 10 },
		{ "rb::block in run:/app/a.rb", "[jit]", "rb::block in run:/app/a.rb:12`[jit]", "", 12 },
	};

	EXPECT_KEYS(cases);
}

static void a_key_has_parts(void **state)
{
	static const struct {
		const char *key, *name, *file, *module;
	} cases[] = {
		{ "f`a.c`m", "f", "a.c", "m" },
		{ "f`m", "f", "", "m" },
		{ "f`", "f", "", "" },
		{ "a`b`c`d", "a`b", "c", "d" },
		{ "f", "f", "", "" },
		{ "", "", "", "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct profile_key_parts parts = profile_split_key(cases[i].key);

		assert_int_equal(parts.name_bytes, strlen(cases[i].name));
		assert_int_equal(parts.file_bytes, strlen(cases[i].file));
		assert_memory_equal(parts.file, cases[i].file, parts.file_bytes);
		assert_string_equal(parts.module, cases[i].module);
	}
}

static void scripts_have_their_file(void **state)
{
	static const struct identity_case cases[] = {
		{ "JS:*fib /home/me/app/t.js:1:13", "[jit]", "fib /home/me/app/t.js`[jit]" },
		{ "JS:~fib /builds/17/t.js:4:2", "[jit]", "fib /builds/17/t.js`[jit]" },
		{ "JS:^fib file:///srv/t.js:4:2", "[jit]", "fib file:///srv/t.js`[jit]" },
		{ "JS:+fib t.js:4", "[jit]", "fib t.js`[jit]" },
		{ "JS:*'fib t.js:4", "[jit]", "fib t.js`[jit]" },
		{ "LazyCompile:*render /srv/app/view.js:10", "[jit]", "render /srv/app/view.js`[jit]" },
		{ "LazyCompile:~ /srv/app/view.js:10", "[jit]", " /srv/app/view.js:10`[jit]" },
		{ "Function:~emit node:events:466:44", "[jit]", "emit node:events`[jit]" },
		{ "JS:wasm_outer-1-liftoff", "[jit]", "wasm_outer `[jit]" },
		{ "JS:wasm_outer-17-turbofan", "[jit]", "wasm_outer `[jit]" },
		{ "Function:wasm-function[12]-12-turbofan", "[jit]", "wasm-function[12] `[jit]" },
		{ "JS:-1-liftoff", "[jit]", "-1-liftoff `[jit]" },
		{ "JS:my-liftoff", "[jit]", "my-liftoff `[jit]" },
		{ "JSC-Baseline: outer_fn#Aeap4y", "[jit]", "outer_fn `[jit]" },
		{ "JSC-FTL: outer_fn#Bxap4y", "[jit]", "outer_fn `[jit]" },
		{ "JSC-DFG: #private#Bxap4y", "[jit]", "#private `[jit]" },
		{ "JSC-FTL: #Bxap4y", "[jit]", " `[jit]" },
		{ "JSC-Thunk: DefaultCall", "[jit]", "JSC-Thunk: DefaultCall`[jit]" },
		{ "JS:*main", "[jit]", "main `[jit]" },
		{ "JS:~", "[jit]", " `[jit]" },
		{ "JS:^get size /srv/t.js:4:2", "[jit]", "get size /srv/t.js`[jit]" },
		{ "JS:^f /srv/my app/t.js:4:2", "[jit]", "f /srv/my app/t.js`[jit]" },
		{ "JS:^f C:\\app\\t.js:4:2", "[jit]", "f C:\\app\\t.js`[jit]" },
		{ "JS:^f evalmachine.<anonymous>:4:2", "[jit]", "f evalmachine.<anonymous>`[jit]" },
		{ "JS:*f /srv/node_modules/a/index.js:3:1", "[jit]", "f /srv/node_modules/a/index.js`[jit]" },
		/* functions without a name are told apart by where they are defined */
		{ "JS:~ /srv/view.js:11:5", "[jit]", " /srv/view.js:11:5`[jit]" },
		{ "py::parse:/usr/lib/python3.12/json/decoder.py", "[jit]",
			"py::parse:/usr/lib/python3.12/json/decoder.py`[jit]" },
		{ "py::parse:decoder.py", "[jit]", "py::parse:decoder.py`[jit]" },
		{ "php::App\\Shop::price:/srv/v1/shop.php", "[jit]", "php::App\\Shop::price:/srv/v1/shop.php`[jit]" },
		{ "php::{closure:price()}:/srv/shop.php", "[jit]", "php::{closure:price()}:/srv/shop.php`[jit]" },
		{ "rb::block in price:/srv/v1/shop.rb", "[jit]", "rb::block in price:/srv/v1/shop.rb`[jit]" },
		{ "rb::<class:A>:/srv/shop.rb", "[jit]", "rb::<class:A>:/srv/shop.rb`[jit]" },
		{ "py::", "[jit]", "py::`[jit]" },
	};

	EXPECT_KEYS(cases);
}

/* async-profiler's marks of a tier are no part of a method's name. */
static void tiers_of_java_methods_are_cut(void **state)
{
	static const struct identity_case cases[] = {
		{ "java/util/HashMap.get_[j]", "", "java.util.HashMap.get`" },
		{ "java/util/HashMap.get_[i]", "", "java.util.HashMap.get`" },
		{ "java/util/HashMap.get_[0]", "", "java.util.HashMap.get`" },
		{ "java/util/HashMap.get_[1]", "", "java.util.HashMap.get`" },
		{ "java/util/HashMap.get", "", "java.util.HashMap.get`" },
		{ "a_[x]", "", "a_[x]`" },
		{ "_[j]", "", "_[j]`" },
		{ "Ljava/util/HashMap;::get", "[jit]", "Ljava/util/HashMap;::get`[jit]" },
	};

	EXPECT_KEYS(cases);
}

static void unnamed_code_is_known_by_its_fingerprint(void **state)
{
	static const struct identity_case without[] = {
		{ "libz.so+0x12ab", "libz.so", "[unnamed]`libz.so" },
		{ "libz.so.1.2.13+0x5d80", "libz.so", "[unnamed]`libz.so" },
		{ "libc-2.36.so+0x5", "libc.so", "[unnamed]`libc.so" },
		{ "server+0x400", "server", "[unnamed]`server" },
		{ "//anon+0x7f76a0005b88", "//anon", "[unnamed]`//anon" },
		/* the exported function before it is a hint, and neither its identity nor the other one's */
		{ "libz.so.1.2.13+0x5d80 near deflate", "libz.so", "[unnamed]`libz.so" },
		{ "server+0x400 near f(int)+0x12", "server", "[unnamed]`server" },
		{ "deflate near it", "libz.so", "deflate near it`libz.so" },
	};
	static const struct identity_case with[] = {
		{ "libz.so.1.2.13+0x5d80", "libz.so", "[code 00000000000000ab]`libz.so" },
		{ "libz.so.1.3+0x6000", "libz.so", "[code 00000000000000ab]`libz.so" },
		{ "libz.so.1.3+0x6000 near deflate", "libz.so", "[code 00000000000000ab]`libz.so" },
		{ "libz.so.1.3+0x6000 near inflate", "libz.so", "[code 00000000000000ab]`libz.so" },
		{ "deflate", "libz.so", "deflate`libz.so" },
	};

	EXPECT_KEYS(without);
	for (size_t i = 0; i < sizeof(with) / sizeof(*with); i++)
		expect_key(&with[i], 0xab);
}

static void modules_have_no_version_and_no_folder(void **state)
{
	static const char *const cases[][2] = {
		{ "/usr/lib/x86_64-linux-gnu/libc.so.6", "libc.so" },
		{ "/lib/libc-2.36.so", "libc.so" },
		{ "/root/.debug/jit/x/jitted-19425-2210.so", "[jit]" },
		{ "jitted-a.so", "jitted-a.so" },
		{ "jitted-.so", "jitted-.so" },
		{ "/lib/ld-linux-x86-64.so.2", "ld-linux-x86-64.so" },
		{ "libstdc++.so.6.0.30", "libstdc++.so" },
		{ "libQt5Core.so.5.15.8", "libQt5Core.so" },
		{ "libnss3.so", "libnss3.so" },
		{ "lib-2.so", "lib-2.so" },
		{ "lib-2.0.so.1", "lib.so" },
		{ "lib-2a.so", "lib-2a.so" },
		{ "mod.sound", "mod.sound" },
		{ "/usr/bin/python3.11", "python3.11" },
		{ "/srv/app/server", "server" },
		{ "/", "" },
		{ "", "" },
		{ "[vdso]", "[vdso]" },
		{ "[kernel.kallsyms]", "[kernel.kallsyms]" },
		{ "//anon", "//anon" },
		{ "_speedups.cpython-311-x86_64-linux-gnu.so", "_speedups.cpython-311-x86_64-linux-gnu.so" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		CLEANUP(buffer_deinit) struct buffer module = { 0 };

		buffer_init(&module, 1 << 12);
		profile_module_name(cases[i][0], &module);
		if (strcmp(module.data ? module.data : "", cases[i][1]) != 0)
			fail_msg("%s is the module %s, expected %s", cases[i][0], module.data, cases[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_that_stay),
		cmocka_unit_test(what_a_compiler_adds_is_cut),
		cmocka_unit_test(what_a_rebuild_draws_is_cut),
		cmocka_unit_test(one_name_has_one_spelling),
		cmocka_unit_test(files_tell_functions_apart),
		cmocka_unit_test(a_key_has_parts),
		cmocka_unit_test(scripts_have_their_file),
		cmocka_unit_test(tiers_of_java_methods_are_cut),
		cmocka_unit_test(unnamed_code_is_known_by_its_fingerprint),
		cmocka_unit_test(modules_have_no_version_and_no_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
