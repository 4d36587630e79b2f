/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/format.h"

#include "profile/profile.h"

#include <math.h>
#include <string.h>

const char format_unknown[] = "–";

/* Smaller values are shown as zero everywhere. */
static const double no_points = 0.005;

/* From this factor on a change is written as a factor, since people think of it as one, not in percent. */
static const double least_factor = 2;

static struct format_text unknown(void)
{
	struct format_text out;

	snprintf(out.text, sizeof(out.text), "%s", format_unknown);
	return out;
}

static struct format_text format_join(const char *sign, const char *number, const char *separator, const char *unit)
{
	struct format_text out;

	snprintf(out.text, sizeof(out.text), "%s%.20s%s%.12s", sign, number, separator, unit);
	return out;
}

/* Writes a nonnegative whole number. */
static void group_digits(double value, char *out, size_t size)
{
	char digits[DIGITS_SIZE];

	if (value >= 1e15) {
		snprintf(out, size, "%.3g", value);
		return;
	}
	digits_in_groups((uint64_t)value, digits);
	snprintf(out, size, "%s", digits);
}

/* Writes a nonnegative number with three significant digits. */
static void three_digits(double value, char *out, size_t size)
{
	if (value >= 99.95)
		group_digits(round(value), out, size);
	else
		snprintf(out, size, value >= 9.995 ? "%.1f" : "%.2f", value);
}

struct format_step {
	double size; /* size of the unit in base units */
	const char *unit;
};

static struct format_text format_scaled(double value, const char *sign, const struct format_step *steps, size_t count)
{
	char number[24];
	size_t i = 0;

	/* The next unit is taken early, since 999.5 ms would be written as 1,000 ms. */
	while (i + 1 < count && value >= steps[i + 1].size * 0.9995)
		i++;
	if (i == 0)
		group_digits(round(value), number, sizeof(number));
	else
		three_digits(value / steps[i].size, number, sizeof(number));
	return format_join(sign, number, " ", steps[i].unit);
}

static struct format_text magnitude(double value, const char *sign, const char *unit)
{
	static const struct format_step times[] = { { 1, "ns" }, { 1e3, "µs" }, { 1e6, "ms" }, { 1e9, "s" } };
	static const struct format_step sizes[] = { { 1, "B" }, { 1e3, "kB" }, { 1e6, "MB" }, { 1e9, "GB" } };
	char number[24];

	if (strcmp(unit, "nanoseconds") == 0)
		return format_scaled(value, sign, times, sizeof(times) / sizeof(times[0]));
	if (strcmp(unit, "bytes") == 0)
		return format_scaled(value, sign, sizes, sizeof(sizes) / sizeof(sizes[0]));
	if (profile_unit_parts(unit) > 1)
		three_digits(value / (double)profile_unit_parts(unit), number, sizeof(number));
	else
		group_digits(round(value), number, sizeof(number));
	return format_join(sign, number, "", "");
}

struct format_text format_count(double value)
{
	char number[24];

	if (!isfinite(value))
		return unknown();
	group_digits(round(fabs(value)), number, sizeof(number));
	return format_join(value <= -0.5 ? "-" : "", number, "", "");
}

struct format_text format_rate(double value)
{
	/* Below, two digits behind the point would be less than two significant ones. */
	static const double least_plain = 0.0995;
	char number[24];

	if (!isfinite(value))
		return unknown();
	if (fabs(value) >= least_plain)
		three_digits(fabs(value), number, sizeof(number));
	else
		snprintf(number, sizeof(number), "%.2g", fabs(value));
	return format_join(value < 0 ? "-" : "", number, "", "");
}

const char *format_module(const char *module)
{
	bool is_kernel = strcmp(module, "[kernel.kallsyms]") == 0 || strcmp(module, "[guest.kernel.kallsyms]") == 0;

	return is_kernel ? "kernel" : module;
}

struct format_text format_value(double value, const char *unit)
{
	if (!isfinite(value))
		return unknown();
	if (fabs(value) < 0.5)
		return format_join("", "0", "", "");
	return magnitude(fabs(value), value < 0 ? "-" : "", unit);
}

static struct format_text precise(double value, const char *sign, const char *unit)
{
	char number[24];

	if (strcmp(unit, "nanoseconds") != 0 || fabs(value) >= 999.5)
		return magnitude(fabs(value), sign, unit);
	three_digits(fabs(value), number, sizeof(number));
	return format_join(sign, number, " ", "ns");
}

struct format_text format_precise(double value, const char *unit)
{
	return isfinite(value) ? precise(value, value < 0 ? "-" : "", unit) : unknown();
}

struct format_text format_precise_delta(double value, const char *unit)
{
	return isfinite(value) ? precise(value, value < 0 ? "-" : "+", unit) : unknown();
}

struct format_text format_delta(double value, const char *unit)
{
	if (!isfinite(value))
		return unknown();
	if (fabs(value) < 0.5)
		return format_join("", "0", "", "");
	return magnitude(fabs(value), value < 0 ? "-" : "+", unit);
}

static void percent_digits(double percent, char *out, size_t size)
{
	if (percent >= 99.95)
		group_digits(round(percent), out, size);
	else
		snprintf(out, size, percent >= 0.0995 ? "%.1f" : "%.2f", percent);
}

static struct format_text percent_with(const char *plus, double percent)
{
	char number[24];

	if (!isfinite(percent))
		return unknown();
	if (fabs(percent) < no_points)
		return format_join("", "0", " ", "%");
	percent_digits(fabs(percent), number, sizeof(number));
	return format_join(percent < 0 ? "-" : plus, number, " ", "%");
}

struct format_text format_percent(double percent)
{
	return percent_with("", percent);
}

struct format_text format_signed_percent(double percent)
{
	return percent_with("+", percent);
}

bool format_is_factor(double base, double head)
{
	return head >= least_factor * base;
}

struct format_text format_change(double base, double head)
{
	char number[24];

	if (!isfinite(base) || !isfinite(head) || !(base > 0))
		return unknown();
	if (!format_is_factor(base, head))
		return format_signed_percent((head - base) / base * 100);
	three_digits(head / base, number, sizeof(number));
	return format_join("", number, "", "×");
}

struct format_text format_points(double points)
{
	struct format_text out;

	if (!isfinite(points))
		return unknown();
	if (fabs(points) < no_points)
		return format_join("", "0", "", "");
	snprintf(out.text, sizeof(out.text), "%+.2f", points);
	return out;
}

static void bound_digits(double value, char *out, size_t size)
{
	if (fabs(value) < no_points)
		snprintf(out, size, "0");
	else
		snprintf(out, size, fabs(value) < 9.995 ? "%.2f" : "%.1f", value);
}

struct format_text format_interval(double low, double high)
{
	struct format_text out = { .text = "" };
	char from[20], to[20];

	if (!isfinite(low) || !isfinite(high) || fabs(low) > 1e6 || fabs(high) > 1e6)
		return out;
	bound_digits(low, from, sizeof(from));
	bound_digits(high, to, sizeof(to));
	snprintf(out.text, sizeof(out.text), "%s to %s", from, to);
	return out;
}

static void percent_bound(double percent, char out[24])
{
	char digits[20] = "0";

	if (fabs(percent) >= no_points)
		percent_digits(fabs(percent), digits, sizeof(digits));
	snprintf(out, 24, "%s%s", percent <= -no_points ? "-" : "", digits);
}

struct format_text format_percent_interval(double low, double high)
{
	struct format_text out = { .text = "" };
	char from[24], to[24];

	if (!isfinite(low) || !isfinite(high) || fabs(low) > 1e6 || fabs(high) > 1e6)
		return out;
	percent_bound(low, from);
	percent_bound(high, to);
	snprintf(out.text, sizeof(out.text), "%s to %s %%", from, to);
	return out;
}

double format_share(double part, double whole)
{
	return whole > 0 ? part / whole * 100 : NAN;
}
