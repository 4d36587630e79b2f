/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/name_template.h"

#include "profile/identity.h"
#include "profile/name_scan.h"

#include <ctype.h>
#include <string.h>

/* What stands for a number or a hash that was left out. */
static const char template_hole = '#';

struct template_scan {
	const char *start, *at, *end; /* of the name */
	struct buffer *out;
	bool has_numbers; /* a number was left out that counts */
};

struct template_token {
	const char *start, *end;
};

static size_t token_size(struct template_token t)
{
	return (size_t)(t.end - t.start);
}

static void append_hole(struct template_scan *scan, bool is_number)
{
	scan->has_numbers |= is_number;
	buffer_append_byte(scan->out, (uint8_t)template_hole);
}

/* ---- What a token is ---- */

/* The words before a number by which compilers and run times tell what has no name, or threads of one kind. */
static const char *const numbered_words[] = { "accessor", "anon", "anonfun", "anonymous", "block", "cell", "class",
	"closure", "codegen", "deferwrap", "eval", "exec", "fn", "fun", "func", "function", "generated", "gowrap",
	"impl", "init", "input", "iterator", "lambda", "pid", "pool", "promise", "proxy", "shim", "stage", "struct",
	"switchmap", "thread", "tid", "trace", "unnamed", "worker", "wrap" };

/* Returns whether a word ends in one of these, in small or capital letters. */
static bool template_is_numbered(struct template_token word)
{
	for (size_t i = 0; i < sizeof(numbered_words) / sizeof(numbered_words[0]); i++) {
		size_t size = strlen(numbered_words[i]);

		if (token_size(word) >= size && strncasecmp(word.end - size, numbered_words[i], size) == 0)
			return true;
	}
	return false;
}

static bool token_is_of(struct template_token t, int (*is)(int))
{
	for (const char *c = t.start; c < t.end; c++)
		if (!is((unsigned char)*c))
			return false;
	return true;
}

static bool token_has(struct template_token t, int (*is)(int))
{
	for (const char *c = t.start; c < t.end; c++)
		if (is((unsigned char)*c))
			return true;
	return false;
}

/* Hexadecimal digits of one case, with a number among them: `8a1f3d2c`, not `decade`. */
static bool is_hexadecimal(struct template_token t)
{
	enum { LEAST = 6 };

	return token_size(t) >= LEAST && token_is_of(t, isxdigit) && token_has(t, isdigit) &&
	       !(token_has(t, isupper) && token_has(t, islower));
}

static int template_class_of(char c)
{
	return isdigit((unsigned char)c) ? 1 : isupper((unsigned char)c) ? 2 : 3;
}

/*
 * Returns whether a token is drawn of letters and digits: kinds of characters change at nearly every one, `x7Aa9LmQ`,
 * which they do not in words: `Int32Array`, `base64url`.
 */
static bool is_drawn(struct template_token t)
{
	enum { LEAST = 6, LEAST_WITHOUT_NUMBER = 7 };
	static const double least_changes = 0.6, least_without_number = 0.7;
	bool has_number = token_has(t, isdigit);
	size_t changes = 0;

	if (token_size(t) < (has_number ? (size_t)LEAST : (size_t)LEAST_WITHOUT_NUMBER))
		return false;
	for (const char *c = t.start + 1; c < t.end; c++)
		changes += template_class_of(c[0]) != template_class_of(c[-1]);
	return (double)changes >= (has_number ? least_changes : least_without_number) * (double)(token_size(t) - 1);
}

/* ---- Tokens in their place ---- */

/* The token before `at`, with what separates it, as `fn` in `fn__12`. */
static struct template_token token_before(const struct template_scan *scan, const char *at)
{
	struct template_token t = { at, at };

	while (t.end > scan->start && !isalnum((unsigned char)t.end[-1]))
		t.end--;
	t.start = t.end;
	while (t.start > scan->start && isalnum((unsigned char)t.start[-1]))
		t.start--;
	return t;
}

/*
 * Returns whether a number counts what has no name. One in a list of arguments is a value, and one behind a single `_`
 * or a space is a part of a word, unless it is large, the word is one that is numbered, or another number stands before
 * it: `phase_2`, but `trace_12`, `b__0_1`.
 */
static bool is_ordinal(const struct template_scan *scan, struct template_token number)
{
	enum { LARGE = 3 };
	const char *before = number.start - 1;

	if (number.start == scan->start)
		return true;
	if (*before == '_' && before > scan->start && before[-1] != '_')
		return token_size(number) >= LARGE || template_is_numbered(token_before(scan, before)) ||
		       (scan->out->size >= 2 && scan->out->data[scan->out->size - 2] == template_hole);
	return *before == ' ' ? template_is_numbered(token_before(scan, before)) : !strchr("<,(", *before);
}

/* Appends `Stage12` as a word and a number, if the number counts. */
static bool append_numbered_word(struct template_scan *scan, struct template_token t)
{
	enum { LARGE = 4 };
	struct template_token word = t;

	while (word.end > word.start && isdigit((unsigned char)word.end[-1]))
		word.end--;
	if (word.end == t.end || word.end == word.start)
		return false;
	/* Nim's `u123` is one letter and a number. */
	if (t.end - word.end + (token_size(word) == 1) < LARGE &&
		!(token_is_of(word, isalpha) && template_is_numbered(word)))
		return false;
	buffer_append(scan->out, word.start, token_size(word));
	append_hole(scan, true);
	return true;
}

/*
 * Returns whether a token is what a compiler draws in a form of its own: GHC for local functions, `r3Kp` in
 * `Main_go_r3Kp_info`, bundlers of JavaScript for pieces, `7QVYU63E` in `chunk-7QVYU63E.js`.
 */
static bool is_drawn_in_form(const struct template_scan *scan, struct template_token t)
{
	bool is_of_ghc = token_size(t) == 4 && strchr("rsc", *t.start) && name_has(t.end, "_info");
	bool is_piece = token_size(t) == 8 && t.start > scan->start && t.start[-1] == '-' && *t.end == '.' &&
			!token_has(t, islower) && token_has(t, isdigit);

	return is_of_ghc || is_piece;
}

/* Names behind which a run time that makes a class writes a hash, whatever it is. */
static bool is_before_hash(const struct template_scan *scan, const char *at)
{
	static const char *const makers[] = { "ByteBuddy$", "CGLIB$$", "MockitoMock$", "HibernateProxy$" };

	for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
		size_t size = strlen(makers[i]);

		if ((size_t)(at - scan->start) >= size && memcmp(at - size, makers[i], size) == 0)
			return true;
	}
	return false;
}

static void append_token(struct template_scan *scan, struct template_token t)
{
	bool is_number = token_is_of(t, isdigit);
	bool is_address = token_size(t) > 2 && t.start[0] == '0' && t.start[1] == 'x';

	if (is_number ? is_ordinal(scan, t)
		      : is_address || is_hexadecimal(t) || is_drawn(t) || is_before_hash(scan, t.start) ||
				is_drawn_in_form(scan, t))
		append_hole(scan, is_number);
	else if (!append_numbered_word(scan, t))
		buffer_append(scan->out, t.start, token_size(t));
}

/* Appends tokens as they are, until `end`. */
static void append_tokens(struct template_scan *scan, const char *end)
{
	while (scan->at < end) {
		struct template_token t = { scan->at, scan->at };

		while (t.end < end && isalnum((unsigned char)*t.end))
			t.end++;
		if (t.end > t.start)
			append_token(scan, t);
		else
			buffer_append_byte(scan->out, (uint8_t)*t.end++);
		scan->at = t.end;
	}
}

/* ---- Paths ---- */

/* Returns whether a character may stand in a path within a name. */
static bool is_of_path(char c)
{
	return isalnum((unsigned char)c) || ((unsigned char)c & 0x80) || (c != '\0' && strchr("_.+@~%-/\\", c) != NULL);
}

static const char *last_slash(const char *start, const char *end)
{
	while (end > start && end[-1] != '/' && end[-1] != '\\')
		end--;
	return end;
}

/*
 * Files of these names are in every package, whose folder has the name. Some are a program's own as well, and only
 * below a folder of packages is the folder that they are in no checkout.
 */
static bool is_named_by_folder(const char *path, const char *file, const char *end)
{
	static const char *const always[] = { "__init__.py", "__main__.py" };
	static const char *const in_packages[] = { "index.js", "index.mjs", "index.cjs", "index.ts", "main.js",
		"lib.js", "core.py", "utils.py", "base.py" };
	static const char *const packages[] = { "node_modules/", "-packages/", "/gems/" };
	size_t size = (size_t)(end - file);

	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		if (size == strlen(always[i]) && memcmp(file, always[i], size) == 0)
			return true;
	for (size_t i = 0; i < sizeof(in_packages) / sizeof(in_packages[0]); i++) {
		if (size != strlen(in_packages[i]) || memcmp(file, in_packages[i], size) != 0)
			continue;
		for (size_t k = 0; k < sizeof(packages) / sizeof(packages[0]); k++)
			if (memmem(path, (size_t)(file - path), packages[k], strlen(packages[k])))
				return true;
	}
	return false;
}

/* Appends what a path says of a file, wherever a checkout lies: its name, with the folder that is its package. */
static void append_path(struct template_scan *scan, const char *end)
{
	const char *file = last_slash(scan->at, end);
	bool has_folder = file > scan->at && is_named_by_folder(scan->at, file, end);

	scan->at = has_folder ? last_slash(scan->at, file - 1) : file;
	append_tokens(scan, end);
}

/* Skips `:12:3` behind a path: an edit above a function moves it. */
static void skip_lines(struct template_scan *scan)
{
	while (scan->at + 1 < scan->end && *scan->at == ':' && isdigit((unsigned char)scan->at[1])) {
		scan->has_numbers = true;
		for (scan->at++; scan->at < scan->end && isdigit((unsigned char)*scan->at);)
			scan->at++;
	}
}

/* Skips `vN/` and `vN.` of a package of Go, and whose copy it is: `app/vendor/`. */
static void append_package(struct template_scan *scan, const char *end)
{
	static const char vendor[] = "/vendor/";
	const char *at;

	while ((at = memmem(scan->at, (size_t)(end - scan->at), vendor, sizeof(vendor) - 1)) != NULL)
		scan->at = at + sizeof(vendor) - 1;
	while (scan->at < end) {
		const char *slash = memchr(scan->at, '/', (size_t)(end - scan->at));
		const char *behind = scan->at + 2;

		if (!slash)
			break;
		append_tokens(scan, slash);
		for (behind = slash + 2; behind < end && isdigit((unsigned char)*behind);)
			behind++;
		if (slash[1] == 'v' && behind > slash + 2 && behind < end && (*behind == '.' || *behind == '/'))
			scan->at = behind;
		else
			append_tokens(scan, slash + 1);
	}
	/* The version of `gopkg.in/yaml.v2.Unmarshal`. */
	while ((at = memmem(scan->at, (size_t)(end - scan->at), ".v", 2)) != NULL) {
		const char *behind = at + 2;

		while (behind < end && isdigit((unsigned char)*behind))
			behind++;
		append_tokens(scan, at);
		if (behind > at + 2 && behind < end && *behind == '.')
			scan->at = behind;
		else
			append_tokens(scan, at + 2);
	}
	append_tokens(scan, end);
}

/* Takes a run of characters of paths, if it has a folder. Returns false if it has none. */
static bool template_take_path(struct template_scan *scan)
{
	static const char scheme[] = "file://", anonymous[] = "class@anonymous";
	const char *end;

	if (scan->at > scan->start && is_of_path(scan->at[-1]))
		return false;
	if (name_has(scan->at, scheme))
		scan->at += sizeof(scheme) - 1;
	if (name_has(scan->at, anonymous)) {
		buffer_append_string(scan->out, anonymous);
		scan->at += sizeof(anonymous) - 1;
	}
	for (end = scan->at; end < scan->end && is_of_path(*end);)
		end++;
	if (last_slash(scan->at, end) == scan->at)
		return false;
	if (strchr("/.~", *scan->at) || name_is_script(last_slash(scan->at, end), end))
		append_path(scan, end);
	else
		append_package(scan, end);
	skip_lines(scan);
	return true;
}

/* ---- Brackets ---- */

/*
 * Skips a pair of brackets that holds no name: arguments of a function, which not every tool tells, and what stands in
 * for types in Go and which crate Rust means. `(anonymous namespace)` and `(*T)` stand where no function is before.
 */
static bool skip_arguments(struct template_scan *scan)
{
	const char *end;

	if (scan->at == scan->start || (*scan->at != '(' && *scan->at != '['))
		return false;
	if (!name_is_word(scan->at[-1]) && !strchr(">)~=]}'", scan->at[-1]))
		return false;
	end = name_skip(scan->at);
	if (end <= scan->at + 1 || end > scan->end)
		return false;
	scan->at = end;
	/* `const` says of an argument, too: of the object itself. */
	while (name_has(scan->at, " const") || name_has(scan->at, "&"))
		scan->at += *scan->at == '&' ? 1 : 6;
	return true;
}

/* Appends one word for what compilers of C++ and their demanglers call a lambda. */
static bool take_lambda(struct template_scan *scan)
{
	static const char *const beginnings[] = { "{lambda(", "'lambda", "$_" };
	const char *end = NULL;

	if (name_has(scan->at, beginnings[0]))
		end = name_skip(scan->at);
	else if (name_has(scan->at, beginnings[1]))
		end = memchr(scan->at + 1, '\'', (size_t)(scan->end - scan->at - 1));
	else if (name_has(scan->at, beginnings[2]) && scan->at > scan->start && scan->at[-1] == ':')
		end = scan->at + 2 + strspn(scan->at + 2, "0123456789");
	if (!end || end > scan->end)
		return false;
	scan->at = end + (*end == '\'');
	buffer_append_string(scan->out, "{lambda}");
	scan->has_numbers = true;
	return true;
}

/* ---- Names ---- */

/*
 * Returns the end of a name without the words by which a library chooses a function for the CPU that it runs on:
 * of `__memmove` in `__memmove_avx_unaligned_erms`.
 */
static const char *without_cpu(const char *start, const char *end)
{
	static const char *const words[] = { "_sse2", "_ssse3", "_sse4", "_sse42", "_avx", "_avx2", "_avx512", "_evex",
		"_evex512", "_fma", "_fma4", "_sve", "_neon", "_erms", "_falkor", "_thunderx", "_a64fx", "_asimd",
		"_mops" };

	if (!name_has(start, "__"))
		return end;
	for (const char *at = start + 2; at < end; at++) {
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
			size_t size = strlen(words[i]);

			if (name_has(at, words[i]) && (at + size == end || at[size] == '_'))
				return at;
		}
	}
	return end;
}

/* Kotlin appends a hash of the types to functions with value classes: `load-IoAF18A`. */
static const char *without_kotlin_hash(const char *start, const char *end)
{
	enum { HASH = 7 };
	const char *dash = end - HASH - 1;

	if (end - start <= HASH + 1 || *dash != '-' || !memchr(start, '.', (size_t)(dash - start)) ||
		memchr(start, '/', (size_t)(end - start)) || memchr(start, ' ', (size_t)(end - start)))
		return end;
	for (const char *c = dash + 1; c < end; c++)
		if (!name_is_word(*c) && *c != '-')
			return end;
	return dash;
}

static void append_template(struct template_scan *scan)
{
	while (scan->at < scan->end && !scan->out->failed) {
		const char *word = scan->at;

		if (template_take_path(scan) || take_lambda(scan) || skip_arguments(scan))
			continue;
		while (word < scan->end && isalnum((unsigned char)*word))
			word++;
		append_tokens(scan, word > scan->at ? word : word + 1);
	}
}

bool profile_key_template(const char *key, struct buffer *out)
{
	struct profile_key_parts parts = profile_split_key(key);
	const char *end = without_kotlin_hash(key, key + parts.name_bytes);
	struct template_scan scan = { key, key, without_cpu(key, end), out, false };

	append_template(&scan);
	/* A function without a name is told by its file and line. */
	if (parts.line > 0) {
		buffer_append_byte(out, '`');
		scan.start = scan.at = last_slash(parts.file, parts.file + parts.file_bytes);
		append_tokens(&scan, parts.file + parts.file_bytes);
		scan.has_numbers = true;
	}
	return scan.has_numbers;
}

bool profile_key_is_of_cpu(const char *key)
{
	const char *end = key + profile_split_key(key).name_bytes;

	return without_cpu(key, end) < end;
}

void profile_shown_template(const char *key, struct buffer *out)
{
	size_t at = out->size;

	profile_key_template(key, out);
	for (; !out->failed && at < out->size; at++)
		if (out->data[at] == template_hole)
			out->data[at] = '*';
}
