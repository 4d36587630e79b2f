/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/records/record.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static struct record_words record_read_words(struct byte_reader *r, uint64_t count)
{
	struct record_words words = { NULL, 0 };

	if (count > byte_reader_left(r) / sizeof(uint64_t)) {
		r->failed = true;
		return words;
	}
	words.count = (size_t)count;
	words.bytes = byte_reader_bytes(r, (size_t)count * sizeof(uint64_t));
	return words;
}

bool record_size(const void *bytes, size_t available, size_t *size)
{
	struct byte_reader r = byte_reader_over(bytes, available);
	uint16_t total;

	byte_reader_skip(&r, sizeof(uint32_t) + sizeof(uint16_t));
	total = byte_reader_u16(&r);
	if (!byte_reader_ok(&r) || total < RECORD_HEADER_BYTES || total > available)
		return false;
	*size = total;
	return true;
}

static size_t id_bytes(const struct record_layout *layout)
{
	uint64_t carried =
		layout->sample_type & (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
					      PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER);

	return layout->sample_id_all ? (size_t)__builtin_popcountll(carried) * sizeof(uint64_t) : 0;
}

/* Reads the fields in `wanted`, as far as this layout has them. */
static void record_read_id(
	const struct record_layout *layout, uint64_t wanted, struct byte_reader *r, struct record *record)
{
	uint64_t type = layout->sample_type & wanted;

	if (type & PERF_SAMPLE_TID) {
		record->pid = (int32_t)byte_reader_u32(r);
		record->tid = (int32_t)byte_reader_u32(r);
	}
	if (type & PERF_SAMPLE_TIME)
		record->time_ns = byte_reader_u64(r);
	if (type & PERF_SAMPLE_ADDR)
		record->sample.address = byte_reader_u64(r);
	if (type & PERF_SAMPLE_ID)
		record->id = byte_reader_u64(r);
	if (type & PERF_SAMPLE_STREAM_ID)
		record->stream_id = byte_reader_u64(r);
	if (type & PERF_SAMPLE_CPU) {
		record->cpu = byte_reader_u32(r);
		byte_reader_skip(r, sizeof(uint32_t));
	}
}

/* perf_output_read() in kernel/events/core.c: a value alone stands before its times, those of a group behind them. */
static void read_values(const struct record_layout *layout, struct byte_reader *r, struct record_sample *sample)
{
	uint64_t format = layout->read_format;
	size_t words_each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST), time_words;
	struct record_values values = { .words_each = (uint8_t)words_each, .id_word = !!(format & PERF_FORMAT_ID) };
	uint64_t count;

	if (!(format & PERF_FORMAT_GROUP)) {
		time_words = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) + !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
		byte_reader_skip(r, (words_each + time_words) * sizeof(uint64_t));
		return;
	}
	count = byte_reader_u64(r);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		values.enabled_ns = byte_reader_u64(r);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		values.running_ns = byte_reader_u64(r);
	if (count > byte_reader_left(r) / (words_each * sizeof(uint64_t))) {
		r->failed = true;
		return;
	}
	values.count = (uint32_t)count;
	values.bytes = byte_reader_bytes(r, (size_t)count * words_each * sizeof(uint64_t));
	sample->values = values;
}

static void read_branches(const struct record_layout *layout, struct byte_reader *r, struct record_sample *sample)
{
	enum { BRANCH_WORDS = 3 };
	uint64_t count = byte_reader_u64(r);

	if (layout->has_branch_index)
		byte_reader_skip(r, sizeof(uint64_t));
	if (count > byte_reader_left(r) / (BRANCH_WORDS * sizeof(uint64_t)))
		r->failed = true;
	else
		sample->branches = record_read_words(r, count * BRANCH_WORDS);
}

/* The kernel adds zeros so that the bytes and their size, of 4 bytes, end at a multiple of 8. */
static void record_read_raw(struct byte_reader *r, struct record_sample *sample)
{
	size_t bytes = byte_reader_u32(r);

	sample->raw = byte_reader_bytes(r, bytes);
	sample->raw_bytes = sample->raw ? bytes : 0;
}

/* Vector and predicate registers: how many of each, how many words each has, and all of the words. */
static void skip_vector_registers(struct byte_reader *r)
{
	uint64_t vectors = byte_reader_u16(r), vector_words = byte_reader_u16(r);
	uint64_t predicates = byte_reader_u16(r), predicate_words = byte_reader_u16(r);

	(void)record_read_words(r, vectors * vector_words + predicates * predicate_words);
}

/* Patches for Linux make a set of bits of the word that tells the ABI: one more says that vector registers follow. */
static void read_user_registers(const struct record_layout *layout, struct byte_reader *r, struct record_sample *sample)
{
	enum { ABI_VECTORS = 1 << 2 };
	uint64_t abi = byte_reader_u64(r);

	sample->registers_abi = abi & (PERF_SAMPLE_REGS_ABI_32 | PERF_SAMPLE_REGS_ABI_64);
	if (abi != PERF_SAMPLE_REGS_ABI_NONE)
		sample->user_registers = record_read_words(r, (uint64_t)__builtin_popcountll(layout->user_registers));
	if (abi & ABI_VECTORS)
		skip_vector_registers(r);
}

static void read_user_stack(struct byte_reader *r, struct record_sample *sample)
{
	uint64_t room = byte_reader_u64(r), copied;
	const uint8_t *bytes;

	if (room == 0)
		return;
	if (room > byte_reader_left(r)) {
		r->failed = true;
		return;
	}
	bytes = byte_reader_bytes(r, (size_t)room);
	copied = byte_reader_u64(r);
	if (copied > room)
		r->failed = true;
	if (r->failed)
		return;
	sample->stack = bytes;
	sample->stack_room = (size_t)room;
	sample->stack_bytes = (size_t)copied;
}

/* Fields stand in the kernel's order (perf_output_sample()). */
static void read_up_to_stack(const struct record_layout *layout, struct byte_reader *r, struct record *record)
{
	struct record_sample *sample = &record->sample;
	uint64_t type = layout->sample_type;

	sample->is_kernel = (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	if (type & PERF_SAMPLE_IDENTIFIER)
		record->id = byte_reader_u64(r);
	if (type & PERF_SAMPLE_IP)
		sample->ip = byte_reader_u64(r);
	record_read_id(layout,
		PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
			PERF_SAMPLE_CPU,
		r, record);
	if (type & PERF_SAMPLE_PERIOD)
		sample->period = byte_reader_u64(r);
	if (type & PERF_SAMPLE_READ)
		read_values(layout, r, sample);
	if (type & PERF_SAMPLE_CALLCHAIN)
		sample->callchain = record_read_words(r, byte_reader_u64(r));
	if (type & PERF_SAMPLE_RAW)
		record_read_raw(r, sample);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		read_branches(layout, r, sample);
	if (type & PERF_SAMPLE_REGS_USER)
		read_user_registers(layout, r, sample);
}

/* Reads a sample. Fields after the stack are not needed. */
static void record_read_sample(const struct record_layout *layout, struct byte_reader *r, struct record *record)
{
	read_up_to_stack(layout, r, record);
	if (layout->sample_type & PERF_SAMPLE_STACK_USER)
		read_user_stack(r, &record->sample);
}

/*
 * Returns whether a protection and flags stand before the path of an MMAP2. Linux 3.12 to 3.15, and kernels that took
 * the record from there (el7's 3.10), have neither. No path begins with the bytes of a protection: PROT_READ to
 * PROT_SEM, and whether the mapping grows; nor with those of a regular file's mode, which `perf inject --jit` writes
 * there.
 */
static bool mmap_has_protection(const struct byte_reader *r)
{
	static const uint32_t protections = 0x0300000f;
	struct byte_reader ahead = *r;
	uint32_t word = byte_reader_u32(&ahead);

	return !ahead.failed && ((word & ~protections) == 0 || (word <= UINT16_MAX && S_ISREG(word)));
}

static void read_mmap(struct byte_reader *r, struct record *record)
{
	enum { BUILD_ID_ROOM = 20 };
	struct record_mmap *mmap = &record->mmap;

	record->pid = (int32_t)byte_reader_u32(r);
	record->tid = (int32_t)byte_reader_u32(r);
	mmap->address = byte_reader_u64(r);
	mmap->size = byte_reader_u64(r);
	mmap->file_offset = byte_reader_u64(r);
	/* The older record is of executable mappings only, unless marked. */
	mmap->executable = !(record->misc & PERF_RECORD_MISC_MMAP_DATA);
	if (record->type == PERF_RECORD_MMAP2) {
		if (record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
			mmap->build_id_size = byte_reader_u8(r);
			byte_reader_skip(r, 3);
			mmap->build_id = byte_reader_bytes(r, BUILD_ID_ROOM);
			r->failed |= mmap->build_id_size > BUILD_ID_ROOM;
		} else {
			mmap->major = byte_reader_u32(r);
			mmap->minor = byte_reader_u32(r);
			mmap->inode = byte_reader_u64(r);
			byte_reader_skip(r, sizeof(uint64_t)); /* generation */
		}
		if (mmap_has_protection(r)) {
			mmap->executable = byte_reader_u32(r) & PROT_EXEC;
			byte_reader_skip(r, sizeof(uint32_t)); /* flags */
		}
	}
	mmap->path = byte_reader_string(r, NULL);
	if (mmap->address + mmap->size < mmap->address)
		r->failed = true;
}

static void read_comm(struct byte_reader *r, struct record *record)
{
	record->pid = (int32_t)byte_reader_u32(r);
	record->tid = (int32_t)byte_reader_u32(r);
	record->comm.is_exec = record->misc & PERF_RECORD_MISC_COMM_EXEC;
	record->comm.name = byte_reader_string(r, NULL);
}

static void read_task(struct byte_reader *r, struct record *record)
{
	record->pid = (int32_t)byte_reader_u32(r);
	record->fork.parent_pid = (int32_t)byte_reader_u32(r);
	record->tid = (int32_t)byte_reader_u32(r);
	record->fork.parent_tid = (int32_t)byte_reader_u32(r);
	record->time_ns = byte_reader_u64(r);
}

static enum record_kind record_kind_of(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_SAMPLE:
		return RECORD_SAMPLE;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return RECORD_MMAP;
	case PERF_RECORD_COMM:
		return RECORD_COMM;
	case PERF_RECORD_FORK:
		return RECORD_FORK;
	case PERF_RECORD_EXIT:
		return RECORD_EXIT;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return RECORD_LOST;
	case PERF_RECORD_THROTTLE:
		return RECORD_THROTTLE;
	case RECORD_TYPE_CALLCHAIN_DEFERRED:
		return RECORD_CALLCHAIN;
	default:
		return RECORD_OTHER;
	}
}

static void read_body(const struct record_layout *layout, struct byte_reader *r, struct record *record)
{
	switch (record->kind) {
	case RECORD_SAMPLE:
		record_read_sample(layout, r, record);
		break;
	case RECORD_MMAP:
		read_mmap(r, record);
		break;
	case RECORD_COMM:
		read_comm(r, record);
		break;
	case RECORD_FORK:
	case RECORD_EXIT:
		read_task(r, record);
		break;
	case RECORD_LOST:
		if (record->type == PERF_RECORD_LOST)
			byte_reader_skip(r, sizeof(uint64_t)); /* the event's id */
		record->lost = byte_reader_u64(r);
		break;
	case RECORD_CALLCHAIN:
		record->callchain.cookie = byte_reader_u64(r);
		record->callchain.words = record_read_words(r, byte_reader_u64(r));
		break;
	case RECORD_THROTTLE:
	case RECORD_OTHER:
		break;
	}
}

struct record_layout record_layout_of(const struct perf_event_attr *attr)
{
	return (struct record_layout){
		.sample_type = attr->sample_type,
		.read_format = attr->read_format,
		.user_registers = attr->sample_regs_user,
		.sample_id_all = attr->sample_id_all,
		.has_branch_index = attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX,
	};
}

bool record_parse(
	const struct record_layout *layout, const void *bytes, size_t size, struct record *record, struct error *err)
{
	struct byte_reader r = byte_reader_over(bytes, size), trailer;
	struct record parsed;
	size_t trailer_bytes = id_bytes(layout);
	uint16_t total;

	memset(&parsed, 0, sizeof(parsed));
	parsed.type = byte_reader_u32(&r);
	parsed.misc = byte_reader_u16(&r);
	parsed.kind = record_kind_of(parsed.type);
	total = byte_reader_u16(&r);
	if (!byte_reader_ok(&r) || total != size)
		return error_set(err, ERROR_FORMAT, "record of %zu bytes says it has %u", size, total);
	/* Records that perf's tools add to perf.data (64 and above) have no trailer. */
	if (parsed.kind != RECORD_SAMPLE && parsed.type < 64) {
		if (trailer_bytes > byte_reader_left(&r))
			return error_set(err, ERROR_FORMAT, "record of type %u has no room for its id", parsed.type);
		r.end -= trailer_bytes;
		trailer = byte_reader_over(r.end, trailer_bytes);
		record_read_id(layout,
			PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU,
			&trailer, &parsed);
	}
	read_body(layout, &r, &parsed);
	if (!byte_reader_ok(&r))
		return error_set(err, ERROR_FORMAT,
			"record of type %u and %zu bytes is cut short or contradicts itself", parsed.type, size);
	*record = parsed;
	return true;
}

static uint64_t record_word_at(const void *bytes, size_t size, size_t offset)
{
	uint64_t word;

	if (offset > size || size - offset < sizeof(word))
		return 0;
	memcpy(&word, (const uint8_t *)bytes + offset, sizeof(word));
	return word;
}

bool record_find_stack(
	const struct record_layout *layout, const void *bytes, size_t available, size_t *offset, uint64_t *room)
{
	struct byte_reader r = byte_reader_over(bytes, available);
	struct record record = { .type = byte_reader_u32(&r) };
	uint64_t found;
	size_t at;

	if (record.type != PERF_RECORD_SAMPLE || !(layout->sample_type & PERF_SAMPLE_STACK_USER))
		return false;
	byte_reader_skip(&r, RECORD_HEADER_BYTES - sizeof(uint32_t));
	read_up_to_stack(layout, &r, &record);
	at = (size_t)byte_reader_offset(&r);
	found = byte_reader_u64(&r);
	if (!byte_reader_ok(&r) || found == 0)
		return false;
	*offset = at;
	*room = found;
	return true;
}

bool record_sample_pid(const struct record_layout *layout, const void *bytes, size_t size, int32_t *pid)
{
	uint64_t before = layout->sample_type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP);
	size_t offset = RECORD_HEADER_BYTES + sizeof(uint64_t) * (size_t)__builtin_popcountll(before);
	uint32_t type;

	if (!(layout->sample_type & PERF_SAMPLE_TID) || size < offset + sizeof(*pid))
		return false;
	memcpy(&type, bytes, sizeof(type));
	if (type != PERF_RECORD_SAMPLE)
		return false;
	memcpy(pid, (const uint8_t *)bytes + offset, sizeof(*pid));
	return true;
}

bool record_is_deferred(const struct record_words *callchain, uint64_t *cookie)
{
	size_t count = callchain->count;

	if (count < 2 || record_word(callchain, count - 2) != RECORD_CONTEXT_DEFERRED)
		return false;
	*cookie = record_word(callchain, count - 1);
	return true;
}

uint64_t record_time(const struct record_layout *layout, const void *bytes, size_t size)
{
	uint64_t type = layout->sample_type, before, behind;
	uint32_t record_type;

	if (size < RECORD_HEADER_BYTES || !(type & PERF_SAMPLE_TIME))
		return 0;
	memcpy(&record_type, bytes, sizeof(record_type));
	if (record_type == PERF_RECORD_SAMPLE) {
		before = type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID);
		return record_word_at(
			bytes, size, RECORD_HEADER_BYTES + sizeof(uint64_t) * (size_t)__builtin_popcountll(before));
	}
	behind = type & (PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER);
	if (!layout->sample_id_all || size < RECORD_HEADER_BYTES + id_bytes(layout))
		return 0;
	return record_word_at(bytes, size, size - sizeof(uint64_t) * (size_t)(1 + __builtin_popcountll(behind)));
}
