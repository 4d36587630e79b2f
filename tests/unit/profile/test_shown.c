/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/profile.h"
#include "tests/unit/support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How names are shown: by the rule of each language, and shortened where there is no room. */

enum { LONGEST = 1024 };

static const struct {
	const char *module, *name, *shown, *package;
} cases[] = {
	/* C, and code without a name */
	{ "[kernel.kallsyms]", "finish_task_switch.isra.0", "finish_task_switch", "" },
	{ "libc.so", "fopen@@GLIBC_2.2.5", "fopen", "" },
	{ "server", "memcmp@plt", "memcmp@plt", "" },
	{ "libz.so", "libz.so.1.2.13+0x4970 near crc32_combine_op", "libz.so.1.2.13+0x4970 near crc32_combine_op", "" },
	{ "libx.so", "libx.so+0x4 near void f<int>(int) const", "libx.so+0x4 near f<int>(int) const", "" },
	{ "", "[waiting: lock]", "[waiting: lock]", "" },
	{ "server", "", "", "" },
	/* C++ */
	{ "node", "v8::MaybeHandle<v8::Object> v8::JsonParser<unsigned char>::Parse<false>(int) [clone .isra.0]",
		"v8::JsonParser<unsigned char>::Parse<false>(int)", "" },
	{ "s", "void std::sort<int*>(int*, int*)", "std::sort<int*>(int*, int*)", "" },
	{ "s", "decltype (f(1)) ns::g<int>(int)", "ns::g<int>(int)", "" },
	{ "s", "auto f<int>(int)::{lambda(auto:1)#1}::operator()<int>(int) const",
		"f<int>(int)::{lambda(auto:1)#1}::operator()<int>(int) const", "" },
	{ "s", "int (anonymous namespace)::f<int>(int)", "(anonymous namespace)::f<int>(int)", "" },
	{ "s", "std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char const*)",
		"std::operator<< <std::char_traits<char>>(std::ostream&, char const*)", "" },
	{ "s", "shop::Key::operator unsigned long() const", "shop::Key::operator unsigned long() const", "" },
	{ "s", "operator new(unsigned long)", "operator new(unsigned long)", "" },
	{ "s", "non-virtual thunk to shop::A::f(int)", "non-virtual thunk to shop::A::f(int)", "" },
	{ "s", "guard variable for shop::f(int)::x", "guard variable for shop::f(int)::x", "" },
	{ "s",
		"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::"
		"append(char const*)",
		"std::string::append(char const*)", "" },
	{ "s",
		"shop::f(std::map<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, int, "
		"std::less<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >, "
		"std::allocator<std::pair<int const, int> > > const&)",
		"shop::f(std::map<std::string, int> const&)", "" },
	{ "s",
		"std::__1::vector<std::__1::basic_string_view<char, std::__1::char_traits<char> >, "
		"std::__1::allocator<int> >::at(int)",
		"std::vector<std::string_view>::at(int)", "" },
	{ "s", "shop::name[abi:cxx11](int)", "shop::name(int)", "" },
	{ "s", "f(std::vector<int, shop::Arena<int> >)", "f(std::vector<int, shop::Arena<int>>)", "" },
	{ "s", "a<b", "a<b", "" },
	{ "s", "f<(", "f<(", "" },
	/* Rust */
	{ "w", "<alloc::vec::Vec<T,A> as core::iter::Extend<&T>>::extend", "<Vec<T,A> as Extend<&T>>::extend", "" },
	{ "w", "<alloc::vec::Vec<u8>>::push", "Vec<u8>::push", "" },
	{ "w", "<u64>::from_ascii_radix", "u64::from_ascii_radix", "" },
	{ "w", "work::checksum::h0123456789abcdef", "work::checksum", "" },
	{ "w", "cast::<impl cast::From<f64> for usize>::cast", "cast::<impl cast::From<f64> for usize>::cast", "" },
	/* Go */
	{ "shop", "net/http.(*conn).serve", "http.(*conn).serve", "net/http" },
	{ "shop", "github.com/jackc/pgx/v5.(*Conn).Query", "pgx.(*Conn).Query", "github.com/jackc/pgx/v5" },
	{ "shop", "main.main.func1.2", "main.main.func1.2", "" },
	{ "shop", "a.io/b/c.F[go.shape.*x/y.T]", "c.F[go.shape.*x/y.T]", "a.io/b/c" },
	/* Java */
	{ "[jit]", "int java.util.ArrayList.indexOfRange(java.lang.Object, int, byte[])",
		"ArrayList.indexOfRange(Object, int, byte[])", "java.util" },
	{ "[jit]", "void Shop.handle(com.sun.net.httpserver.HttpExchange)", "Shop.handle(HttpExchange)", "" },
	{ "[jit]", "void a.Shop$$Lambda$9/0x00007ff0f4000a08.handle(java.util.Map$Entry[])",
		"Shop$$Lambda.handle(Map$Entry[])", "a" },
	{ "[jit]", "Ljava/util/HashMap;get(Ljava/lang/Object;)V", "HashMap.get", "java.util" },
	{ "[jit]", "Ljava/util/HashMap;::get", "HashMap.get", "java.util" },
	{ "[jit]", "java/util/HashMap.get_[j]", "HashMap.get", "java.util" },
	{ "[jit]", "void java.util.ArrayList.<init>(int)", "ArrayList.<init>(int)", "java.util" },
	{ "[jit]", "vtable chunks", "vtable chunks", "" },
	/* scripts */
	{ "[jit]", "py::S.run:/srv/w.py", "S.run", "" },
	{ "server", "py::detail::cast", "py::detail::cast", "" },
	{ "[jit]", "JS:*get f /srv/w.js:1:2", "get f", "" },
	{ "[jit]", "JS:~ /srv/w.js:1:2", "(anonymous)", "" },
	{ "[jit]", "JS:", "JS:", "" },
	{ "[jit]", "php::App\\User::find:/srv/u.php", "App\\User::find", "" },
	{ "[jit]", "rb::Shop#total:/srv/s.rb", "Shop#total", "" },
};

static void test_each_language_has_its_rule(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		enum profile_language language = profile_language_of(cases[i].name, cases[i].module);
		CLEANUP(buffer_deinit) struct buffer shown = { 0 }, package = { 0 };

		buffer_init(&shown, LONGEST);
		buffer_init(&package, LONGEST);
		profile_shown_name(cases[i].name, cases[i].module, &shown);
		if (profile_languages[language].append_package)
			profile_languages[language].append_package(cases[i].name, &package);
		if (strcmp(shown.data ? shown.data : "", cases[i].shown) != 0 ||
			strcmp(package.data ? package.data : "", cases[i].package) != 0)
			fail_msg("%s: '%s' in '%s'", cases[i].name, shown.data, package.data);
	}
}

/* tests/data/names.tsv, which a test of the viewer reads as well. */
static void test_names_are_shortened_by_the_table(void **state)
{
	FILE *file = fopen(NAMES_FILE, "r");
	char line[LONGEST];
	size_t count = 0, wrong = 0;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		CLEANUP(buffer_deinit) struct buffer out = { 0 };
		char *name = strchr(line, '\t'), *text = name ? strchr(name + 1, '\t') : NULL;
		size_t columns = strtoul(line, NULL, 10);

		if (line[0] == '#')
			continue;
		assert_non_null(text);
		*text++ = '\0';
		text[strcspn(text, "\n")] = '\0';
		buffer_init(&out, LONGEST);
		profile_shorten_name(name + 1, columns, &out);
		if (strcmp(out.data, text) != 0 || unicode_text_width(text) > columns) {
			print_error("%s in %zu columns: '%s'\n", name + 1, columns, out.data);
			wrong++;
		}
		count++;
	}
	fclose(file);
	assert_int_equal(wrong, 0);
	assert_true(count > 40);
}

/* Names are foreign bytes, and may be as long as a file. */
static void test_no_name_takes_long_or_exceeds_its_width(void **state)
{
	static const char *const pieces[] = { "(", "<", "{", "[", "<(", "(<", "::", "operator<", "a<b(", ", std::less<",
		")", ">", "decltype(", "\xff", "a/", ".", "$$Lambda", "/0x" };

	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		CLEANUP(buffer_deinit) struct buffer name = { 0 }, shown = { 0 }, out = { 0 };

		buffer_init(&name, 1 << 20);
		buffer_init(&shown, 1 << 20);
		buffer_init(&out, LONGEST);
		while (name.size < 60000)
			buffer_append_string(&name, pieces[i]);
		profile_shown_name(name.data, "s", &shown);
		profile_shown_name(name.data, "[jit]", &shown);
		assert_false(shown.failed);
		profile_shorten_name(name.data, 40, &out);
		assert_true(unicode_text_width(out.data) <= 40);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_language_has_its_rule),
		cmocka_unit_test(test_names_are_shortened_by_the_table),
		cmocka_unit_test(test_no_name_takes_long_or_exceeds_its_width),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
