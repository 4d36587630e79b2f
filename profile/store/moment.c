/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/store/moment.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

static const int64_t ns_per_s = 1000000000;
static const int64_t most_s = INT64_C(9000000000); /* in the year 2255: nanoseconds still have room */

static bool read_digits(const char **text, unsigned int most_digits, int64_t *number)
{
	unsigned int digits = 0;

	*number = 0;
	for (; digits < most_digits && isdigit((unsigned char)**text); digits++)
		*number = *number * 10 + (*(*text)++ - '0');
	return digits > 0;
}

/* Reads ".25" as nanoseconds; further digits than nine are less than one. */
static bool read_fraction(const char **text, int64_t *ns)
{
	int64_t unit = ns_per_s / 10;

	*ns = 0;
	if (**text != '.')
		return true;
	if (!isdigit((unsigned char)*++*text))
		return false;
	for (; isdigit((unsigned char)**text); unit /= 10)
		*ns += unit * (*(*text)++ - '0');
	return true;
}

static bool moment_parse_unix(const char *text, int64_t *unix_ns)
{
	int64_t seconds, ns;

	if (!read_digits(&text, 10, &seconds) || !read_fraction(&text, &ns) || *text != '\0')
		return false;
	*unix_ns = seconds * ns_per_s + ns;
	return seconds <= most_s;
}

static int64_t seconds_of_unit(char unit)
{
	switch (unit) {
	case 's':
		return 1;
	case 'm':
		return 60;
	case 'h':
		return 3600;
	case 'd':
		return 86400;
	case 'w':
		return 604800;
	default:
		return 0;
	}
}

static bool parse_before_now(const char *text, int64_t now_unix_ns, int64_t *unix_ns)
{
	*unix_ns = now_unix_ns;
	if (*text == '\0')
		return true;
	if (*text++ != '-' || *text == '\0')
		return false;
	while (*text != '\0') {
		int64_t count, unit;

		if (!read_digits(&text, 9, &count))
			return false;
		unit = seconds_of_unit(*text);
		if (unit == 0 || count > most_s / unit ||
			__builtin_sub_overflow(*unix_ns, count * unit * ns_per_s, unix_ns))
			return false;
		text++;
	}
	return true;
}

static bool moment_read_part(const char **text, unsigned int digits, char end, int *part)
{
	const char *start = *text;
	int64_t number;

	if (!read_digits(text, digits, &number) || *text - start != (ptrdiff_t)digits || (end && *(*text)++ != end))
		return false;
	*part = (int)number;
	return true;
}

/* Parses "Z", "+01:00": how many seconds the clock is ahead of UTC. */
static bool parse_zone(const char *text, int64_t *ahead_s)
{
	int hours, minutes, sign = *text == '-' ? -1 : 1;

	*ahead_s = 0;
	if (strcmp(text, "Z") == 0 || strcmp(text, "z") == 0)
		return true;
	if (*text != '+' && *text != '-')
		return false;
	text++;
	if (!moment_read_part(&text, 2, ':', &hours) || !moment_read_part(&text, 2, 0, &minutes) || *text != '\0' ||
		hours > 23 || minutes > 59)
		return false;
	*ahead_s = (int64_t)sign * (hours * INT64_C(3600) + minutes * INT64_C(60));
	return true;
}

/* The 31st of April is the 1st of May to timegm(3), and no date to a reader. */
static bool is_date(const struct tm *given, const struct tm *made)
{
	return given->tm_mday == made->tm_mday && given->tm_mon == made->tm_mon && given->tm_hour == made->tm_hour &&
	       given->tm_min == made->tm_min;
}

static bool parse_rfc3339(const char *text, int64_t *unix_ns)
{
	struct tm given = { 0 }, made;
	int64_t seconds, ns, ahead_s;

	if (!moment_read_part(&text, 4, '-', &given.tm_year) || !moment_read_part(&text, 2, '-', &given.tm_mon) ||
		!moment_read_part(&text, 2, 0, &given.tm_mday) || !strchr("Tt ", *text) || *text == '\0')
		return false;
	text++;
	if (!moment_read_part(&text, 2, ':', &given.tm_hour) || !moment_read_part(&text, 2, ':', &given.tm_min) ||
		!moment_read_part(&text, 2, 0, &given.tm_sec) || given.tm_sec > 60 || !read_fraction(&text, &ns) ||
		!parse_zone(text, &ahead_s))
		return false;
	given.tm_year -= 1900;
	given.tm_mon -= 1;
	made = given;
	seconds = timegm(&made);
	if (given.tm_sec < 60 && !is_date(&given, &made))
		return false;
	seconds -= ahead_s;
	if (seconds < 0 || seconds > most_s)
		return false;
	*unix_ns = seconds * ns_per_s + ns;
	return true;
}

bool store_parse_moment(const char *text, int64_t now_unix_ns, int64_t *unix_ns, struct error *err)
{
	int64_t parsed = 0;
	bool ok = strncmp(text, "now", 3) == 0 ? parse_before_now(text + 3, now_unix_ns, &parsed)
					       : moment_parse_unix(text, &parsed) || parse_rfc3339(text, &parsed);

	if (!ok || parsed <= 0)
		return error_set(err, ERROR_USAGE,
			"'%.64s' is no time; write Unix seconds, RFC 3339 as in 2026-11-24T12:00:00Z, or a time before now as in now-2h",
			text);
	*unix_ns = parsed;
	return true;
}
