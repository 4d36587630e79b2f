/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/foreign/unsupported.h"

#include <ctype.h>
#include <string.h>

/* The first object of marshal, a tuple of three in a dictionary, begins in two ways: with profiling.sampling and
 * cProfile. */
#define PSTATS                                                                                                              \
	"it is for Python's pstats, which has no stacks; 'python -m profiling.sampling run --collapsed -o OUT SCRIPT' and " \
	"'py-spy record --format raw' write folded stacks"

#define CHROME_TRACE                                                                                                   \
	"it is a Chrome trace; have its tool write pprof, folded stacks or a speedscope file (py-spy record --format raw)"

#define MARK(bytes) bytes, sizeof(bytes) - 1

static const char older_pprof[] =
	"it is in a format older than pprof's (of gperftools, or a text of Go's); 'go tool pprof -proto -output=OUT PROGRAM FILE' converts it";

static const struct {
	const char *mark;
	size_t size, offset;
	const char *text;
} marked[] = {
	{ MARK("\x28\xb5\x2f\xfd"), 0, "it is packed with zstd; unpack it first: zstd -d" },
	{ MARK("\xfd"
	       "7zXZ"),
		0, "it is packed with xz; unpack it first: xz -d" },
	{ MARK("1AY&SY"), 4, "it is packed with bzip2; unpack it first: bzip2 -d" },
	{ MARK("\x04\x22\x4d\x18"), 0, "it is packed with lz4; unpack it first: lz4 -d" },
	{ MARK("PK\x03\x04"), 0, "it is a zip archive; unpack it first: unzip" },
	{ MARK("ustar\0"), 257, "it is a tar archive; unpack it first: tar -xf" },
	{ MARK("ustar  \0"), 257, "it is a tar archive; unpack it first: tar -xf" },
	{ MARK("\x7f"
	       "ELF"),
		0,
		"it is a program or library; 'kelvin record -o FILE -- PROGRAM' makes a profile of a program that runs" },
	{ MARK("HCAT\x01"), 0,
		"it is a binary file of CPython's profiling.sampling; 'python -m profiling.sampling replay --collapsed -o OUT FILE' "
		"makes folded stacks of it" },
	{ MARK("MOJ\x03"), 0,
		"it is a binary file of austin; 'mojo2austin FILE OUT' of austin-python makes folded stacks of it" },
	{ MARK("{\xa9\x03"), 0, PSTATS },
	{ MARK("\xfb)\x03"), 0, PSTATS },
	/* Files of version 2 are known by their own mark before. */
	{ MARK("PERFFILE"), 0,
		"it is a perf.data file of version 1 (Linux before 2.6.36); 'perf script -i FILE > OUT' makes a text that can be read" },
	{ MARK("FLR\0"), 0,
		"it is a recording of Java Flight Recorder; 'jfrconv -o collapsed' of async-profiler makes folded stacks of it" },
	{ MARK("heap profile: "), 0, older_pprof },
	{ MARK("goroutine profile: "), 0, older_pprof },
	{ MARK("threadcreate profile: "), 0, older_pprof },
	{ MARK("--- heapz "), 0, older_pprof },
	{ MARK("--- growthz "), 0, older_pprof },
	{ MARK("--- contentionz "), 0, older_pprof },
	{ MARK("--- contention:"), 0, older_pprof },
	{ MARK("--- mutex:"), 0, older_pprof },
	{ MARK("--- threadz "), 0, older_pprof },
	{ MARK("# To display the perf.data header info"), 0,
		"it is the text of 'perf report'; give the perf.data file that it was made of" },
	{ MARK("version https://git-lfs"), 0, "it only stands for a file in Git LFS; 'git lfs pull' fetches that" },
	{ MARK("<!doctype"), 0, "it is a page or a picture; give the profile that it was made of" },
	{ MARK("<!DOCTYPE"), 0, "it is a page or a picture; give the profile that it was made of" },
	{ MARK("<html"), 0, "it is a page or a picture; give the profile that it was made of" },
	{ MARK("<?xml version=\"1.0\"?>\n<trace-query-result"), 0,
		"it is an export of Xcode's Instruments; inferno-collapse-xctrace makes folded stacks of it" },
	{ MARK("<?xml"), 0, "it is a page or a picture; give the profile that it was made of" },
	{ MARK("<svg"), 0, "it is a page or a picture; give the profile that it was made of" },
};

struct known_word {
	const char *word, *text;
};

/*
 * JSON formats, each recognised by a word within the file. Firefox stands before the tools whose words may occur in its
 * profiles as names.
 */
static const struct known_word json[] = {
	{ "\"schema\": \"kelvin.", "it is JSON that kelvin wrote; give the profile that it was made of" },
	{ "\"stackTable\"",
		"it is a profile for the Firefox Profiler; have its tool write another format (profiling.sampling --collapsed), give the "
		"perf.data file that it was made of, or record with 'kelvin record'" },
	{ "\"sample_interval_usec\"",
		"it is JSON of CPython's profiling.sampling; with --collapsed in place of --jsonl it writes folded stacks" },
	{ "\"bailoutReason\"",
		"it is a CPU profile of V8 in an old form; 'node --cpu-prof' and the DevTools write the one that can be read" },
	{ "\"selfSize\"", "it is a heap profile of V8; the package 'pprof' of npm writes pprof instead" },
	{ "\"missed_samples\"",
		"it is JSON of stackprof; 'stackprof --stackcollapse DUMP' makes folded stacks of the dump" },
	{ "\"traceEvents\"", CHROME_TRACE },
	{ "\"ph\"", CHROME_TRACE },
};

/*
 * A CPU profile of gperftools begins with words of the machine that wrote it: 0, the number 3 of those that follow, a
 * version of 0 (Java: 1), the period in microseconds, 0.
 */
static bool is_gperftools(const uint8_t *bytes, size_t size)
{
	for (size_t width = 4; width <= 8; width += 4) {
		for (int is_big = 0; is_big < 2 && size >= 5 * width; is_big++) {
			uint64_t words[5] = { 0 };

			for (size_t i = 0; i < 5 * width; i++)
				words[i / width] |= (uint64_t)bytes[i]
						    << 8 * (is_big ? width - 1 - i % width : i % width);
			if (words[0] == 0 && words[1] == 3 && words[2] <= 1 && words[3] > 0 && words[4] == 0)
				return true;
		}
	}
	return false;
}

static const char *marked_text(const char *bytes, size_t size)
{
	for (size_t i = 0; i < sizeof(marked) / sizeof(marked[0]); i++)
		if (size >= marked[i].offset + marked[i].size &&
			memcmp(bytes + marked[i].offset, marked[i].mark, marked[i].size) == 0)
			return marked[i].text;
	return is_gperftools((const uint8_t *)bytes, size) ? older_pprof : NULL;
}

bool unsupported_is_marked(const void *bytes, size_t size)
{
	return marked_text(bytes, size) != NULL;
}

/* Texts of other profilers, each recognised by a word of its head. */
static const struct known_word texts[] = {
	{ "Analysis of sampling ", "it is of macOS's sample; inferno-collapse-sample makes folded stacks of it" },
	{ "Function Stack", "it is a report of VTune; inferno-collapse-vtune makes folded stacks of it" },
	{ "Level,Function Name",
		"it is a call tree of Visual Studio; inferno-collapse-vsprof makes folded stacks of it" },
	{ "COST CENTRE", "it is a profile of GHC; inferno-collapse-ghcprof makes folded stacks of it" },
};

static const char *text_of_word(const struct known_word *words, size_t count, const char *text, size_t size)
{
	for (size_t i = 0; i < count; i++)
		if (memmem(text, size, words[i].word, strlen(words[i].word)))
			return words[i].text;
	return NULL;
}

const char *unsupported_text(const void *bytes, size_t size)
{
	enum { HEAD_BYTES = 1 << 16 };
	const char *text = bytes, *known = marked_text(bytes, size);

	if (known)
		return known;
	while (size > 0 && isspace((unsigned char)*text)) {
		text++;
		size--;
	}
	if (size > 0 && (*text == '{' || *text == '['))
		return text_of_word(json, sizeof(json) / sizeof(json[0]), text, size);
	return text_of_word(texts, sizeof(texts) / sizeof(texts[0]), text, size < HEAD_BYTES ? size : HEAD_BYTES);
}
