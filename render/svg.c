/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A flame graph of head with the root on top. Adjacent frames narrower than a pixel are drawn as one. */
#include "render/escape.h"
#include "render/format.h"
#include "render/question.h"
#include "render/report.h"
#include "render/summary.h"

#include <math.h>
#include <string.h>

enum {
	DEFAULT_WIDTH = 1200,
	MIN_WIDTH = 400,
	MAX_WIDTH = 20000,
	MARGIN = 10,
	HEADER = 64,
	ROW = 17,
	FOOTER = 34,
	EDGE = 3,        /* height of the lower edge of a frame */
	LEAST_EDGE = 12, /* an edge is as wide as this at least, if its frame is */
	MAX_FRAMES = 200000
};
static const double least_pixels = 1, pixels_per_column = 6.6;
/* Frames narrower than this are drawn without their callees, since nothing would be readable. The picture says so. */
static const double least_caller_pixels = 3;
enum { LEAST_COLUMNS = 5, TITLE_COLUMNS = 1000, MAX_SENTENCE = 10000 }; /* a label of fewer columns is left out */

struct svg_writer {
	const struct render_input *input;
	const struct diff *diff;
	const char *unit;
	double width, scale; /* pixels of the drawing; pixels per unit of the metric */
	double most_points;  /* the largest difference of a node that is drawn in colour */
	unsigned int max_depth, frames;
	bool cut;    /* not everything was drawn */
	size_t gone; /* number of stacks that only base has, which have no width in head */
	struct buffer *out;
};

/* ---- Colours: docs/report.md ---- */

struct colour {
	unsigned int red, green, blue;
};

static const struct colour colour_same = { 0xe6, 0xe4, 0xe0 }, colour_more = { 0xd5, 0x5e, 0x00 },
			   colour_less = { 0x43, 0x93, 0xc3 }, colour_new = { 0x8c, 0x2d, 0x04 },
			   colour_gone = { 0x08, 0x51, 0x9c }, colour_paper = { 0xff, 0xff, 0xff };

static struct colour origin_colour(enum profile_origin origin)
{
	switch (origin) {
	case PROFILE_ORIGIN_USER:
		return (struct colour){ 0x4a, 0x90, 0xd9 };
	case PROFILE_ORIGIN_LIBRARY:
		return (struct colour){ 0xf2, 0xc1, 0x4e };
	case PROFILE_ORIGIN_SYSTEM:
		return (struct colour){ 0xb5, 0x53, 0x3c };
	case PROFILE_ORIGIN_UNKNOWN:
		return (struct colour){ 0xc9, 0xcc, 0xd1 };
	}
	return colour_same;
}

static struct colour wait_colour(enum profile_wait_class wait_class)
{
	uint32_t rgb = profile_wait_info(wait_class)->colour;

	return (struct colour){ rgb >> 16, rgb >> 8 & 0xff, rgb & 0xff };
}

static enum profile_wait_class wait_class_of(const struct svg_writer *w, uint32_t node)
{
	return node == 0 ? PROFILE_WAIT_NONE
			 : diff_wait_class(w->diff, &w->diff->functions[w->diff->nodes[node].function]);
}

static unsigned int svg_mix(unsigned int from, unsigned int to, double part)
{
	return (unsigned int)lround(from + ((double)to - from) * part);
}

static struct colour blend(struct colour full, double part)
{
	return (struct colour){ svg_mix(colour_same.red, full.red, part), svg_mix(colour_same.green, full.green, part),
		svg_mix(colour_same.blue, full.blue, part) };
}

static double node_points(const struct svg_writer *w, uint32_t node)
{
	double head = w->diff->node_total[DIFF_HEAD][node] * w->diff->scale.factor;

	return summary_points(w->diff, head - w->diff->node_total[DIFF_BASE][node]);
}

static bool node_is_new(const struct svg_writer *w, uint32_t node)
{
	return node > 0 && w->diff->sides == DIFF_SIDES && w->diff->nodes[node].state == DIFF_STATE_NEW;
}

/*
 * Returns what is proven of a node's function, if the node has a part in it that its own state does not tell; else
 * NULL. A frame's lower edge has its colour.
 */
static const struct diff_estimate *edge_of(const struct svg_writer *w, uint32_t node)
{
	const struct diff_function *f;

	if (node == 0 || w->diff->sides != DIFF_SIDES || !(w->diff->nodes[node].flags & DIFF_NODE_PLACE))
		return NULL;
	f = &w->diff->functions[w->diff->nodes[node].function];
	return summary_proven(f->self.state) ? &f->self : &f->total;
}

static struct colour state_colour(enum diff_state state)
{
	switch (state) {
	case DIFF_STATE_MORE:
		return colour_more;
	case DIFF_STATE_LESS:
		return colour_less;
	case DIFF_STATE_NEW:
		return colour_new;
	case DIFF_STATE_GONE:
		return colour_gone;
	case DIFF_STATE_SAME:
	case DIFF_STATE_UNPROVEN:
	case DIFF_STATE_MOVED:
		return colour_same;
	}
	return colour_same;
}

static struct colour node_colour(const struct svg_writer *w, uint32_t node)
{
	enum diff_state state = (enum diff_state)w->diff->nodes[node].state;
	double points = fabs(node_points(w, node)), part = 1;

	if (node == 0 && w->diff->sides != DIFF_SIDES)
		return colour_same;
	if (w->diff->sides != DIFF_SIDES && wait_class_of(w, node) != PROFILE_WAIT_NONE)
		return wait_colour(wait_class_of(w, node));
	if (w->diff->sides != DIFF_SIDES)
		return origin_colour(w->diff->functions[w->diff->nodes[node].function].origin);
	/* A proven difference is never so pale that it looks like none. */
	if (isfinite(points) && w->most_points > 0)
		part = fmax(0.35, sqrt(fmin(points / w->most_points, 1)));
	return state == DIFF_STATE_MORE || state == DIFF_STATE_LESS ? blend(state_colour(state), part)
								    : state_colour(state);
}

/* Relative luminance as defined by WCAG 2. */
static double luminance(struct colour c)
{
	const double parts[] = { c.red / 255.0, c.green / 255.0, c.blue / 255.0 },
		     weights[] = { 0.2126, 0.7152, 0.0722 };
	double sum = 0;

	for (int i = 0; i < 3; i++)
		sum += weights[i] * (parts[i] <= 0.03928 ? parts[i] / 12.92 : pow((parts[i] + 0.055) / 1.055, 2.4));
	return sum;
}

/* Black or white, whichever has more contrast: one of them always has at least 4.5:1. */
static const char *text_colour(struct colour c)
{
	double l = luminance(c);

	return (l + 0.05) / 0.05 >= 1.05 / (l + 0.05) ? "#000" : "#fff";
}

/* ---- Text ---- */

static const char *node_name(const struct svg_writer *w, uint32_t node)
{
	return node == 0 ? "all" : diff_string(w->diff, w->diff->functions[w->diff->nodes[node].function].shown);
}

/* Appends as much of a text as has room in a line. */
static void svg_append_line(struct svg_writer *w, const char *text, size_t columns)
{
	CLEANUP(buffer_deinit) struct buffer line = { 0 };
	bool fits = unicode_text_width(text) <= columns;
	size_t used = 0;

	buffer_init(&line, (size_t)1 << 20);
	for (uint32_t code; *text; used += unicode_width(code)) {
		code = unicode_clean(unicode_next(&text));
		if (!fits && used + unicode_width(code) >= columns)
			break;
		unicode_append(&line, code);
	}
	buffer_append_string(&line, fits ? "" : "…");
	if (line.failed)
		w->out->failed = true;
	else
		escape_append(w->out, line.data);
}

/* Appends the whole name of a function and where it is: that of a script has its file, and a mark of its compiler. */
static void append_whole(struct svg_writer *w, const struct diff_function *f)
{
	bool is_script = profile_languages[f->language].read_name != NULL;

	svg_append_line(w, diff_string(w->diff, is_script ? f->shown : f->name), TITLE_COLUMNS);
	if (diff_wait_class(w->diff, f) != PROFILE_WAIT_NONE)
		return;
	buffer_append_string(w->out, " (");
	escape_append(w->out, format_module(diff_string(w->diff, is_script ? f->shown_in : f->module)));
	buffer_printf(w->out, ", %s)", profile_origin_name(f->origin));
}

static void svg_append_title(struct svg_writer *w, uint32_t node)
{
	double base = w->diff->node_total[DIFF_BASE][node],
	       head = w->diff->node_total[DIFF_HEAD][node] * w->diff->scale.factor;
	double percent = format_share(w->diff->node_total[DIFF_HEAD][node], w->diff->node_total[DIFF_HEAD][0]);
	const struct diff_estimate *edge = edge_of(w, node);

	buffer_append_string(w->out, "<title>");
	if (node == 0)
		buffer_append_string(w->out, "all");
	else
		append_whole(w, &w->diff->functions[w->diff->nodes[node].function]);
	if (w->diff->sides == DIFF_SIDES)
		buffer_printf(w->out, " base %s, head %s, %s, %s, %s points of total, %s",
			format_value(base, w->unit).text, format_value(head, w->unit).text,
			format_delta(head - base, w->unit).text, format_change(base, head).text,
			format_points(node_points(w, node)).text,
			diff_state_name((enum diff_state)w->diff->nodes[node].state));
	if (edge)
		buffer_printf(w->out, "; its function: %s in %s", diff_state_name(edge->state),
			edge == &w->diff->functions[w->diff->nodes[node].function].self ? "itself" : "all its places");
	if (w->diff->sides != DIFF_SIDES)
		buffer_printf(w->out, " %s, %s", format_value(head, w->unit).text, format_percent(percent).text);
	buffer_append_string(w->out, "</title>");
}

/* ---- Frames ---- */

static double row_y(unsigned int depth)
{
	return HEADER + (double)depth * ROW;
}

static void draw_bar(struct svg_writer *w, double x, double y, double width, double height, struct colour c)
{
	buffer_printf(w->out, "<rect x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"%.0f\" fill=\"#%02x%02x%02x\"/>", x,
		y, width, height, c.red, c.green, c.blue);
}

static void draw_rectangle(struct svg_writer *w, double x, double y, double width, struct colour c)
{
	draw_bar(w, x, y, width, ROW - 1, c);
}

/*
 * Hue shows the direction of a difference. Texture shows frames that only one side has, so that they are visible
 * without colour.
 */
static void draw_texture(struct svg_writer *w, double x, double y, double width)
{
	buffer_printf(w->out, "<rect x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"%d\" fill=\"url(#new)\"/>", x, y,
		width, ROW - 1);
}

/* Returns a frame's time in head without that of its callees; that of an interpreter which runs it is its own. */
static double own_time(const struct diff *diff, uint32_t node)
{
	enum profile_language language = diff->functions[diff->nodes[node].function].language;
	double own = diff->node_self[DIFF_HEAD][node];

	for (uint32_t n = node + 1; language != PROFILE_LANGUAGE_NATIVE && n < diff->nodes[node].subtree_end;) {
		bool is_interpreter = diff->functions[diff->nodes[n].function].interprets == language;

		own += is_interpreter ? diff->node_self[DIFF_HEAD][n] : 0;
		n = is_interpreter ? n + 1 : diff->nodes[n].subtree_end;
	}
	return own;
}

/* The lower edge of a frame, below its own time where the function itself is proven to have changed. */
static void draw_edge(struct svg_writer *w, uint32_t node, double x, double y, double width)
{
	const struct diff_estimate *edge = edge_of(w, node);
	double part = width;

	if (!edge)
		return;
	if (edge == &w->diff->functions[w->diff->nodes[node].function].self)
		part = fmin(width, fmax(own_time(w->diff, node) * w->scale, LEAST_EDGE));
	/* A line of paper sets the edge off from a frame of its colour. */
	draw_bar(w, x + width - part, y + ROW - 2 - EDGE, part, 1, colour_paper);
	draw_bar(w, x + width - part, y + ROW - 1 - EDGE, part, EDGE, state_colour(edge->state));
}

static void draw_label(struct svg_writer *w, uint32_t node, double x, double y, size_t columns)
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };
	bool is_new = node_is_new(w, node);

	buffer_init(&text, (size_t)1 << 16);
	profile_shorten_name(node_name(w, node), columns - (is_new ? 2 : 0), &text);
	buffer_append(&text, "", 0);
	if (text.failed) {
		w->out->failed = true;
		return;
	}
	buffer_printf(w->out, "<text x=\"%.1f\" y=\"%.0f\" fill=\"%s\">%s", x + 3, y + ROW - 5,
		text_colour(node_colour(w, node)), is_new ? "+ " : "");
	escape_append(w->out, text.data);
	buffer_append_string(w->out, "</text>");
}

static void draw_frame(struct svg_writer *w, uint32_t node, double x, double width)
{
	double y = row_y(w->diff->nodes[node].depth), drawn = fmax(width - 0.3, 0.3);
	size_t columns = width > 6 ? (size_t)((width - 6) / pixels_per_column) : 0;

	buffer_append_string(w->out, "<g>");
	svg_append_title(w, node);
	draw_rectangle(w, x, y, drawn, node_colour(w, node));
	if (node_is_new(w, node))
		draw_texture(w, x, y, drawn);
	draw_edge(w, node, x, y, drawn);
	if (columns >= LEAST_COLUMNS)
		draw_label(w, node, x, y, columns);
	buffer_append_string(w->out, "</g>\n");
	w->frames++;
}

static void draw_small(struct svg_writer *w, unsigned int depth, double x, double width, size_t count)
{
	if (count == 0 || width <= 0)
		return;
	buffer_printf(w->out, "<g><title>%zu narrow frames</title>", count);
	draw_rectangle(w, x, row_y(depth), fmax(width, 0.3), colour_same);
	buffer_append_string(w->out, "</g>\n");
	w->frames++;
}

struct svg_level {
	double next;        /* x position of the next child, in pixels */
	double small;       /* width of the narrow children before it that are drawn as one */
	size_t small_count; /* number of these children */
};

static void flush_small(struct svg_writer *w, struct svg_level *level, unsigned int depth)
{
	draw_small(w, depth, level->next - level->small, level->small, level->small_count);
	level->small = 0;
	level->small_count = 0;
}

/* Walks the tree in preorder without recursion: levels[d] is the state of the open node at depth d. */
static bool draw_tree(struct svg_writer *w, struct svg_level *levels)
{
	const struct diff *diff = w->diff;
	unsigned int open = 0;

	draw_frame(w, 0, MARGIN, w->width);
	levels[0] = (struct svg_level){ .next = MARGIN };
	for (uint32_t node = 1; node < diff->node_count;) {
		unsigned int depth = diff->nodes[node].depth;
		double width = diff->node_total[DIFF_HEAD][node] * w->scale;
		struct svg_level *parent;

		for (; open >= depth; open--)
			flush_small(w, &levels[open], open + 1);
		parent = &levels[open];
		/* Interrupts are not part of the frames above them. */
		if (diff->nodes[node].flags & DIFF_NODE_INTERRUPT)
			width = 0;
		if (!(width > 0) || depth > w->max_depth || w->frames >= MAX_FRAMES) {
			w->cut |= width > 0;
			node = diff->nodes[node].subtree_end;
			continue;
		}
		if (width < least_pixels) {
			parent->next += width;
			parent->small += width;
			parent->small_count += diff->nodes[node].subtree_end - node;
			node = diff->nodes[node].subtree_end;
			continue;
		}
		flush_small(w, parent, depth);
		draw_frame(w, node, parent->next, width);
		if (width < least_caller_pixels) {
			w->cut |= diff->nodes[node].subtree_end > node + 1;
			parent->next += width;
			node = diff->nodes[node].subtree_end;
			continue;
		}
		levels[depth] = (struct svg_level){ .next = parent->next };
		parent->next += width;
		open = depth;
		node++;
	}
	for (;; open--) {
		flush_small(w, &levels[open], open + 1);
		if (open == 0)
			return !w->out->failed;
	}
}

/* ---- Header and legend ---- */

/* Returns whether a node is the first of a stack that head does not have. */
static bool is_first_gone(const struct diff *diff, uint32_t node)
{
	uint32_t parent = diff->nodes[node].parent;

	return diff->sides == DIFF_SIDES && !(diff->node_total[DIFF_HEAD][node] > 0) &&
	       diff->node_total[DIFF_BASE][node] > 0 && diff->nodes[node].state != DIFF_STATE_MOVED &&
	       (parent == 0 || diff->node_total[DIFF_HEAD][parent] > 0);
}

/* Finds the deepest row that is drawn, and the largest difference among the coloured nodes. */
static unsigned int svg_survey(struct svg_writer *w)
{
	unsigned int deepest = 0;

	if (summary_proven((enum diff_state)w->diff->nodes[0].state))
		w->most_points = fabs(node_points(w, 0));
	for (uint32_t node = 1; node < w->diff->node_count; node++) {
		const struct diff_node *n = &w->diff->nodes[node];
		const double *total = w->diff->node_total[DIFF_HEAD];

		if (n->flags & DIFF_NODE_INTERRUPT)
			continue;
		w->gone += is_first_gone(w->diff, node);
		if (n->depth > w->max_depth || !(total[node] > 0) || total[n->parent] * w->scale < least_caller_pixels)
			continue;
		deepest = n->depth > deepest ? n->depth : deepest;
		if (total[node] * w->scale >= least_pixels && summary_proven((enum diff_state)n->state) &&
			fabs(node_points(w, node)) > w->most_points)
			w->most_points = fabs(node_points(w, node));
	}
	return deepest;
}

static void write_legend_entry(struct svg_writer *w, double *x, double y, struct colour c, const char *text)
{
	buffer_printf(w->out,
		"<rect x=\"%.0f\" y=\"%.0f\" width=\"12\" height=\"12\" fill=\"#%02x%02x%02x\"/><text x=\"%.0f\" y=\"%.0f\">%s</text>\n",
		*x, y, c.red, c.green, c.blue, *x + 16, y + 10, text);
	*x += 28 + (double)unicode_text_width(text) * pixels_per_column;
}

/* The classes that the metric has. */
static void write_legend_of_waits(struct svg_writer *w, double *x, double y)
{
	for (int i = 0; i < PROFILE_WAIT_COUNT; i++)
		if (diff_has_wait_class(w->diff, (enum profile_wait_class)i) && w->diff->waits[i].raw[DIFF_HEAD] > 0)
			write_legend_entry(w, x, y, wait_colour((enum profile_wait_class)i),
				profile_wait_info((enum profile_wait_class)i)->frame);
}

static void write_left_out(struct svg_writer *w, double x, double y)
{
	if (!w->cut && !w->gone)
		return;
	buffer_printf(w->out, "<text x=\"%.0f\" y=\"%.0f\">", x, y + 10);
	if (w->gone)
		buffer_printf(w->out, "%zu stack%s not drawn, because only base has %s%s", w->gone,
			w->gone == 1 ? " is" : "s are", w->gone == 1 ? "it" : "them", w->cut ? "; " : "");
	buffer_printf(w->out, "%s</text>\n", w->cut ? "callees too narrow to draw are left out" : "");
}

static void write_legend(struct svg_writer *w, double y)
{
	double x = MARGIN, at;

	if (w->diff->sides == DIFF_SIDES) {
		write_legend_entry(w, &x, y, colour_more, "more");
		write_legend_entry(w, &x, y, colour_less, "less");
		write_legend_entry(w, &x, y, colour_new, "new");
		at = round(x);
		write_legend_entry(w, &x, y, colour_same, "self");
		draw_bar(w, at, y + 11 - EDGE, 12, 1, colour_paper);
		draw_bar(w, at, y + 12 - EDGE, 12, EDGE, colour_more);
		buffer_append_string(w->out, "\n");
		write_legend_entry(w, &x, y, colour_same, "same or unproven");
	} else {
		for (size_t i = 0; i < PROFILE_ORIGIN_COUNT; i++)
			write_legend_entry(
				w, &x, y, origin_colour(summary_origins[i]), profile_origin_name(summary_origins[i]));
		write_legend_of_waits(w, &x, y);
	}
	write_left_out(w, x, y);
}

/* Makes "server: before.pb.gz → after.pb.gz": the name of the report, else the commands or files of both sides. */
static void svg_make_title(const struct svg_writer *w, struct buffer *title)
{
	const char *base = summary_command(w->input, DIFF_BASE), *head = summary_command(w->input, DIFF_HEAD);
	const char *const *names = w->input->names;
	bool is_same = w->diff->sides != DIFF_SIDES || strcmp(base, head) == 0;

	question_title(w->input, title);
	if (title->size > 0)
		return;
	if (!is_same)
		buffer_printf(title, "%s → ", base[0] ? base : "base");
	buffer_append_string(title, head[0] ? head : "profile");
	if (is_same && w->diff->sides == DIFF_SIDES && names[DIFF_BASE] && names[DIFF_HEAD])
		buffer_printf(title, ": %s → %s", names[DIFF_BASE], names[DIFF_HEAD]);
}

/* Makes the legend: the metric, and the meaning of width and colour. */
static void make_legend(const struct svg_writer *w, struct buffer *text)
{
	const struct diff_estimate *total = &w->diff->total;

	buffer_append_string(text, diff_string(w->diff, w->diff->metric_words));
	if (w->diff->sides == DIFF_SIDES)
		buffer_printf(text, ": base %s, head %s (%s); width shows head, colour shows proven differences",
			format_value(total->base, w->unit).text, format_value(total->head, w->unit).text,
			format_change(total->base, total->head).text);
	else
		buffer_printf(text, ": %s; width shows time, colour shows the origin of the code%s",
			format_value(total->head, w->unit).text,
			w->diff->waiting != DIFF_WAITING_NONE ? ", or what threads wait for" : "");
}

/* The lines at the top. */
struct svg_header {
	struct buffer title, sentence, legend;
};

static void header_deinit(struct svg_header *header)
{
	buffer_deinit(&header->title);
	buffer_deinit(&header->sentence);
	buffer_deinit(&header->legend);
}

static bool make_header(const struct svg_writer *w, struct svg_header *header, struct error *err)
{
	buffer_init(&header->title, (size_t)1 << 20);
	buffer_init(&header->sentence, (size_t)1 << 20);
	buffer_init(&header->legend, (size_t)1 << 20);
	svg_make_title(w, &header->title);
	make_legend(w, &header->legend);
	if (w->diff->sides == DIFF_SIDES)
		summary_verdict(w->diff, &header->sentence);
	else if (w->input->profiles[DIFF_HEAD])
		summary_quality(w->input->profiles[DIFF_HEAD], &header->sentence);
	buffer_append(&header->sentence, "", 0);
	return buffer_ok(&header->title, err) && buffer_ok(&header->legend, err) && buffer_ok(&header->sentence, err);
}

/* Writes the description of the picture for those who do not see it. */
static void write_description(struct svg_writer *w, const struct svg_header *header)
{
	buffer_append_string(w->out, "<title>");
	svg_append_line(w, header->title.data, TITLE_COLUMNS);
	buffer_append_string(w->out, "</title>\n<desc>");
	svg_append_line(w, header->sentence.data, MAX_SENTENCE);
	buffer_append_string(w->out, header->sentence.size > 0 ? " " : "");
	svg_append_line(w, header->legend.data, MAX_SENTENCE);
	buffer_append_string(w->out, "</desc>\n");
}

static void write_header(struct svg_writer *w, const struct svg_header *header)
{
	size_t columns = (size_t)(w->width / pixels_per_column);

	buffer_printf(w->out, "<text x=\"%d\" y=\"18\" font-size=\"14\" font-weight=\"bold\">", MARGIN);
	svg_append_line(w, header->title.data, columns * 4 / 5);
	buffer_printf(w->out, "</text>\n<text x=\"%d\" y=\"36\">", MARGIN);
	svg_append_line(w, header->sentence.data, columns);
	buffer_printf(w->out, "</text>\n<text x=\"%d\" y=\"54\">", MARGIN);
	svg_append_line(w, header->legend.data, columns);
	buffer_append_string(w->out, "</text>\n");
}

bool render_svg(const struct render_input *input, const struct render_svg_options *options, struct buffer *out,
	struct error *err)
{
	struct svg_writer w = { .input = input, .diff = input->diff, .out = out, .max_depth = UINT16_MAX };
	unsigned int width = options && options->width ? options->width : DEFAULT_WIDTH, deepest;
	CLEANUP(cleanup_free) struct svg_level *levels = memory_zeroed((size_t)UINT16_MAX + 2, sizeof(*levels));
	CLEANUP(header_deinit) struct svg_header header = { 0 };
	double height;

	width = width < MIN_WIDTH ? MIN_WIDTH : width > MAX_WIDTH ? MAX_WIDTH : width;
	if (options && options->max_depth && options->max_depth < UINT16_MAX)
		w.max_depth = options->max_depth;
	w.unit = diff_string(input->diff, input->diff->unit);
	w.width = width - 2.0 * MARGIN;
	w.scale = input->diff->node_count && input->diff->node_total[DIFF_HEAD][0] > 0
			  ? w.width / input->diff->node_total[DIFF_HEAD][0]
			  : 0;
	if (!make_header(&w, &header, err))
		return false;
	deepest = svg_survey(&w);
	height = row_y(deepest + 1) + FOOTER;
	buffer_printf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%.0f\" viewBox=\"0 0 %u %.0f\" "
		"role=\"img\" font-family=\"ui-monospace,Menlo,Consolas,monospace\" font-size=\"11\" fill=\"#111\">\n",
		width, height, width, height);
	write_description(&w, &header);
	buffer_append_string(out, "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
	if (input->diff->sides == DIFF_SIDES)
		buffer_append_string(out,
			"<pattern id=\"new\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\"><path d=\"M0 5 5 0\" stroke=\"#fff\" stroke-opacity=\".45\"/></pattern>\n");
	write_header(&w, &header);
	if (input->diff->node_count > 0 && !draw_tree(&w, levels))
		return buffer_ok(out, err);
	write_legend(&w, height - FOOTER + 14);
	buffer_append_string(out, "</svg>\n");
	return buffer_ok(out, err);
}
