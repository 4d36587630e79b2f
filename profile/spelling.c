/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/spelling.h"

#include "profile/name_scan.h"

#include <ctype.h>
#include <string.h>

/* A piece of a name that is being trimmed; not NUL-terminated. */
struct spelling_span {
	const char *start, *end;
};

static size_t spelling_size(struct spelling_span s)
{
	return (size_t)(s.end - s.start);
}

static bool spelling_is_digits(const char *start, const char *end)
{
	for (const char *c = start; c < end; c++)
		if (!isdigit((unsigned char)*c))
			return false;
	return true;
}

/* ---- What is added at the end ---- */

/* The words that GCC and clang append to the name of a copy of a function: `.isra.0`, `.cold`, `.llvm.123`. */
static const char *const clone_words[] = { "isra", "constprop", "part", "cold", "llvm", "lto_priv", "__uniq",
	"localalias", "specialized" };

/* Returns whether [start, end) is one of the words, so that `foo.part` is trimmed and `foo.partial` is not. */
static bool is_clone_word(const char *start, const char *end)
{
	for (size_t i = 0; i < sizeof(clone_words) / sizeof(clone_words[0]); i++)
		if ((size_t)(end - start) == strlen(clone_words[i]) &&
			memcmp(start, clone_words[i], (size_t)(end - start)) == 0)
			return true;
	return false;
}

/* Cuts `name.word` and `name.word.number` to `name`. Returns whether there was such an ending. */
static bool trim_clone(struct spelling_span *s)
{
	const char *end = s->end, *dot = memrchr(s->start, '.', spelling_size(*s));

	if (!dot || dot == s->start)
		return false;
	if (dot + 1 < end && spelling_is_digits(dot + 1, end)) {
		end = dot;
		dot = memrchr(s->start, '.', (size_t)(end - s->start));
	}
	if (!dot || dot == s->start || !is_clone_word(dot + 1, end))
		return false;
	s->end = dot;
	return true;
}

/*
 * Cuts the demangled forms of a clone's name: `name(args) [clone .isra.0] [clone .cold]` of GCC's demangler,
 * `name(args) (.isra.0)` of LLVM's.
 */
static bool trim_demangled_clone(struct spelling_span *s)
{
	static const char *const marks[] = { " [clone ", " (." };

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		size_t size = strlen(marks[i]);
		const char *at = memmem(s->start, spelling_size(*s), marks[i], size);

		if (at && at > s->start && s->end[-1] == (i == 0 ? ']' : ')')) {
			s->end = at;
			return true;
		}
	}
	return false;
}

/* Cuts the symbol version: `name@@GLIBC_2.34`, `name@VERS_1`. `name@plt` stays, since the stub is another function. */
static bool trim_version(struct spelling_span *s)
{
	const char *at = memrchr(s->start, '@', spelling_size(*s));

	if (!at || at == s->start || memchr(at, '(', (size_t)(s->end - at)) || memchr(at, '/', (size_t)(s->end - at)))
		return false;
	if ((size_t)(s->end - at) == 4 && memcmp(at, "@plt", 4) == 0)
		return false;
	if (at[-1] == '@')
		at--;
	if (at == s->start)
		return false;
	s->end = at;
	return true;
}

/* Rust's legacy mangling ends in `::h` and 16 hex digits. */
static bool trim_rust_hash(struct spelling_span *s)
{
	enum { MARK = 3, DIGITS = 16 };
	const char *mark = s->end - MARK - DIGITS;

	if (spelling_size(*s) <= MARK + DIGITS || memcmp(mark, "::h", MARK) != 0)
		return false;
	for (const char *c = mark + MARK; c < s->end; c++)
		if (!isxdigit((unsigned char)*c) || isupper((unsigned char)*c))
			return false;
	s->end = mark;
	return true;
}

/*
 * Marks that a tool appends: of the tier in which a method of Java (async-profiler, `_[j]`) or of .NET
 * (`[OptimizedTier1]`) ran, that code is the kernel's (`_[k]`), the name of an assembler's version of a function of Go.
 */
static bool trim_mark(struct spelling_span *s)
{
	static const char *const marks[] = { "_[j]", "_[i]", "_[0]", "_[1]", "_[k]", "[Tier0]", "[Tier1]",
		"[OptimizedTier1]", "[OptimizedTier1OSR]", "[Tier1OSR]", "[Optimized]", "[MinOptJitted]",
		"[QuickJitted]", "[Instrumented]", "[InstrumentedTier0]", "[InstrumentedTier1]", "[PreJIT]",
		"[ReadyToRun]", ".abi0", ".abiinternal" };

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		size_t size = strlen(marks[i]);

		if (spelling_size(*s) > size && memcmp(s->end - size, marks[i], size) == 0) {
			s->end -= size;
			return true;
		}
	}
	return false;
}

static void trim_suffixes(struct spelling_span *s)
{
	while (trim_demangled_clone(s) || trim_clone(s) || trim_version(s) || trim_rust_hash(s) || trim_mark(s))
		;
}

size_t profile_bare_size(const char *name)
{
	struct spelling_span s = { name, name + strlen(name) };

	trim_suffixes(&s);
	return spelling_size(s);
}

/* ---- Forms of one word ---- */

/* Texts that mean the same. The longer of two with one beginning comes first. */
static const struct spelling_form {
	const char *from, *to;
} spelling_forms[] = {
	{ "std::__cxx11::", "std::" },
	{ "std::__1::", "std::" },
	{ "std::__ndk1::", "std::" },
	{ "{anonymous}", NAME_ANONYMOUS },
	{ "<unnamed>", NAME_ANONYMOUS },
	{ "`anonymous namespace'", NAME_ANONYMOUS },
	{ "_GLOBAL__N_1", NAME_ANONYMOUS },
	{ "[abi:cxx11]", "" },
	{ "long unsigned int", "unsigned long" },
	{ "long long unsigned int", "unsigned long long" },
	{ "short unsigned int", "unsigned short" },
	{ "long long int", "long long" },
	{ "long int", "long" },
	{ "short int", "short" },
};

/* Templates of C++ whose arguments of other templates are their defaults, by which demanglers name them or not. */
static const char *const default_arguments[] = { "std::allocator<", "std::char_traits<", "std::less<", "std::hash<",
	"std::equal_to<", "std::default_delete<" };

/* Returns the end of a template that stands as a default argument at `at`, behind a comma; NULL: none does. */
static const char *skip_default_argument(const char *at, const char *end)
{
	for (size_t i = 0; i < sizeof(default_arguments) / sizeof(default_arguments[0]); i++) {
		const char *behind;

		if (!name_has(at, default_arguments[i]))
			continue;
		behind = name_skip(at + strlen(default_arguments[i]) - 1);
		/* An argument of a function may be one by value, and has no default. */
		return behind < end && behind[-1] == '>' && strchr(",>", *behind) ? behind : NULL;
	}
	return NULL;
}

/* Returns the end of `[abi:ne180100]`, which is libc++'s version. */
static const char *skip_abi_tag(const char *at, const char *end)
{
	const char *close = name_has(at, "[abi:") ? memchr(at, ']', (size_t)(end - at)) : NULL;

	return close ? close + 1 : at;
}

/* Returns the end of a form at `at`, and what stands for it; `at`: there is none. */
static const char *skip_form(const char *at, const char *end, const char **to)
{
	const char *behind = skip_abi_tag(at, end);

	*to = "";
	if (behind > at)
		return behind;
	for (size_t i = 0; i < sizeof(spelling_forms) / sizeof(spelling_forms[0]); i++) {
		const struct spelling_form *form = &spelling_forms[i];

		if (!name_has(at, form->from) || strlen(form->from) > (size_t)(end - at))
			continue;
		*to = form->to;
		return at + strlen(form->from);
	}
	return at;
}

/* Returns whether a space is one that demanglers write or not: `int, char`, `vector<vector<int> >`, `char *`. */
static bool is_optional_space(const char *space, const char *start, const char *end)
{
	return (space > start && space[-1] == ',') || (space + 1 < end && strchr(">*&", space[1]));
}

/* `std::basic_string<char>` has a shorter name, as the other templates of the library that are made for `char`. */
static void shorten_basic(struct buffer *out, size_t from)
{
	static const char mark[] = "std::basic_", argument[] = "<char>";
	char *start = out->data + from, *end = out->data + out->size, *at;

	while ((at = memmem(start, (size_t)(end - start), mark, sizeof(mark) - 1)) != NULL) {
		char *word = at + sizeof(mark) - 1, *behind = word;

		while (behind < end && name_is_word(*behind))
			behind++;
		if ((size_t)(end - behind) < sizeof(argument) - 1 ||
			memcmp(behind, argument, sizeof(argument) - 1) != 0) {
			start = behind;
			continue;
		}
		/* "basic_" and "<char>" are taken out. */
		memmove(at + 5, word, (size_t)(behind - word));
		start = at + 5 + (behind - word);
		memmove(start, behind + sizeof(argument) - 1, (size_t)(end - behind) - (sizeof(argument) - 1));
		end -= sizeof(mark) - 1 - 5 + sizeof(argument) - 1;
	}
	out->size = (size_t)(end - out->data);
}

/* Takes default arguments out of the text from `from` on, in which every form is the one of the table. */
static void drop_default_arguments(struct buffer *out, size_t from)
{
	const char *at = out->data + from, *end = out->data + out->size;
	char *to = out->data + from;

	while (at < end) {
		const char *behind = *at == ',' ? skip_default_argument(at + 1, end) : NULL;

		if (behind)
			at = behind;
		else
			*to++ = *at++;
	}
	*to = '\0';
	out->size = (size_t)(to - out->data);
}

static void append_native(struct spelling_span s, struct buffer *out)
{
	size_t from = out->size;
	const char *plain = s.start; /* behind what was appended so far */

	for (const char *at = s.start, *behind; at < s.end; at = behind) {
		const char *to = "";

		behind = skip_form(at, s.end, &to);
		if (behind > at || (*at == ' ' && is_optional_space(at, s.start, s.end))) {
			behind += behind == at;
			buffer_append(out, plain, (size_t)(at - plain));
			buffer_append_string(out, to);
			plain = behind;
		}
		/* No form begins within a word. */
		behind += behind == at;
		while (behind < s.end && name_is_word(behind[-1]) && name_is_word(*behind))
			behind++;
	}
	buffer_append(out, plain, (size_t)(s.end - plain));
	if (out->failed || out->size == from)
		return;
	drop_default_arguments(out, from);
	shorten_basic(out, from);
}

/*
 * Returns whether a name is that of a method as a JVM writes it, `java/util/Map.get`: slashes, the last one before any
 * dot, and a class with a capital letter.
 */
static bool is_of_jvm(struct spelling_span s)
{
	const char *slash, *dot, *arguments = memchr(s.start, '(', spelling_size(s));
	bool has_class = false;

	s.end = arguments ? arguments : s.end;
	slash = memrchr(s.start, '/', spelling_size(s));
	dot = memchr(s.start, '.', spelling_size(s));
	if (!slash || slash == s.start || !dot || dot < slash || *s.start == '/')
		return false;
	for (const char *c = s.start; c < slash + 1; c++) {
		if (!name_is_word(*c) && *c != '/' && *c != '-')
			return false;
		has_class |= *c == '/' && isupper((unsigned char)c[1]);
	}
	return has_class;
}

void profile_spell_name(const char *name, struct buffer *out)
{
	struct spelling_span s = { name, name + strlen(name) };

	trim_suffixes(&s);
	if (!is_of_jvm(s)) {
		append_native(s, out);
		return;
	}
	for (const char *c = s.start; c < s.end; c++)
		buffer_append_byte(out, *c == '/' ? '.' : (uint8_t)*c);
}
