/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/routes/reading.h"
#include "sampler/routes/sha1.h"
#include "sampler/routes/word.h"

/* RESP (redis.io, "Redis serialization protocol specification"): arrays of strings, and commands as lines. */

enum { MOST_ARGUMENTS = 1 << 20, MOST_BYTES = 512 << 20, MOST_COMMAND_BYTES = 24, SCRIPT_DIGITS = 8 };

/* The commands of redis 8, in order. Those of modules have a dot. */
static const char *const redis_commands[] = { "ACL", "APPEND", "ASKING", "AUTH", "BGREWRITEAOF", "BGSAVE", "BITCOUNT",
	"BITFIELD", "BITFIELD_RO", "BITOP", "BITPOS", "BLMOVE", "BLMPOP", "BLPOP", "BRPOP", "BRPOPLPUSH", "BZMPOP",
	"BZPOPMAX", "BZPOPMIN", "CLIENT", "CLUSTER", "COMMAND", "CONFIG", "COPY", "DBSIZE", "DEBUG", "DECR", "DECRBY",
	"DEL", "DISCARD", "DUMP", "ECHO", "EVAL", "EVALSHA", "EVALSHA_RO", "EVAL_RO", "EXEC", "EXISTS", "EXPIRE",
	"EXPIREAT", "EXPIRETIME", "FAILOVER", "FCALL", "FCALL_RO", "FLUSHALL", "FLUSHDB", "FUNCTION", "GEOADD",
	"GEODIST", "GEOHASH", "GEOPOS", "GEORADIUS", "GEORADIUSBYMEMBER", "GEORADIUSBYMEMBER_RO", "GEORADIUS_RO",
	"GEOSEARCH", "GEOSEARCHSTORE", "GET", "GETBIT", "GETDEL", "GETEX", "GETRANGE", "GETSET", "HDEL", "HELLO",
	"HEXISTS", "HEXPIRE", "HEXPIREAT", "HEXPIRETIME", "HGET", "HGETALL", "HGETDEL", "HGETEX", "HINCRBY",
	"HINCRBYFLOAT", "HKEYS", "HLEN", "HMGET", "HMSET", "HPERSIST", "HPEXPIRE", "HPEXPIREAT", "HPEXPIRETIME",
	"HPTTL", "HRANDFIELD", "HSCAN", "HSET", "HSETEX", "HSETNX", "HSTRLEN", "HTTL", "HVALS", "INCR", "INCRBY",
	"INCRBYFLOAT", "INFO", "KEYS", "LASTSAVE", "LATENCY", "LCS", "LINDEX", "LINSERT", "LLEN", "LMOVE", "LMPOP",
	"LOLWUT", "LPOP", "LPOS", "LPUSH", "LPUSHX", "LRANGE", "LREM", "LSET", "LTRIM", "MEMORY", "MGET", "MIGRATE",
	"MODULE", "MONITOR", "MOVE", "MSET", "MSETNX", "MULTI", "OBJECT", "PERSIST", "PEXPIRE", "PEXPIREAT",
	"PEXPIRETIME", "PFADD", "PFCOUNT", "PFDEBUG", "PFMERGE", "PFSELFTEST", "PING", "PSETEX", "PSUBSCRIBE", "PSYNC",
	"PTTL", "PUBLISH", "PUBSUB", "PUNSUBSCRIBE", "QUIT", "RANDOMKEY", "READONLY", "READWRITE", "RENAME", "RENAMENX",
	"REPLCONF", "REPLICAOF", "RESET", "RESTORE", "ROLE", "RPOP", "RPOPLPUSH", "RPUSH", "RPUSHX", "SADD", "SAVE",
	"SCAN", "SCARD", "SCRIPT", "SDIFF", "SDIFFSTORE", "SELECT", "SET", "SETBIT", "SETEX", "SETNX", "SETRANGE",
	"SHUTDOWN", "SINTER", "SINTERCARD", "SINTERSTORE", "SISMEMBER", "SLAVEOF", "SLOWLOG", "SMEMBERS", "SMISMEMBER",
	"SMOVE", "SORT", "SORT_RO", "SPOP", "SPUBLISH", "SRANDMEMBER", "SREM", "SSCAN", "SSUBSCRIBE", "STRLEN",
	"SUBSCRIBE", "SUBSTR", "SUNION", "SUNIONSTORE", "SUNSUBSCRIBE", "SWAPDB", "SYNC", "TIME", "TOUCH", "TTL",
	"TYPE", "UNLINK", "UNSUBSCRIBE", "UNWATCH", "WAIT", "WAITAOF", "WATCH", "XACK", "XADD", "XAUTOCLAIM", "XCLAIM",
	"XDEL", "XGROUP", "XINFO", "XLEN", "XPENDING", "XRANGE", "XREAD", "XREADGROUP", "XREVRANGE", "XSETID", "XTRIM",
	"ZADD", "ZCARD", "ZCOUNT", "ZDIFF", "ZDIFFSTORE", "ZINCRBY", "ZINTER", "ZINTERCARD", "ZINTERSTORE", "ZLEXCOUNT",
	"ZMPOP", "ZMSCORE", "ZPOPMAX", "ZPOPMIN", "ZRANDMEMBER", "ZRANGE", "ZRANGEBYLEX", "ZRANGEBYSCORE",
	"ZRANGESTORE", "ZRANK", "ZREM", "ZREMRANGEBYLEX", "ZREMRANGEBYRANK", "ZREMRANGEBYSCORE", "ZREVRANGE",
	"ZREVRANGEBYLEX", "ZREVRANGEBYSCORE", "ZREVRANK", "ZSCAN", "ZSCORE", "ZUNION", "ZUNIONSTORE" };

/* Commands by which a connection is known when they stand on a line: others begin lines of other protocols, too. */
static const char *const first_lines[] = { "CLIENT", "COMMAND", "CONFIG", "DBSIZE", "HELLO", "INFO", "MONITOR", "PING",
	"PSYNC", "REPLCONF", "SYNC" };

/* Commands whose first argument is what they run. */
static const char *const scripted[] = { "EVAL", "EVALSHA", "EVALSHA_RO", "EVAL_RO", "FCALL", "FCALL_RO" };

static bool redis_is_one_of(const char *word, const char *const *words, size_t count)
{
	size_t at = BISECT(count, i, strcmp(words[i], word) < 0);

	return at < count && strcmp(words[at], word) == 0;
}

#define IS_ONE_OF(word, words) redis_is_one_of((word), (words), sizeof(words) / sizeof(*(words)))

/* "*3\r\n": a number behind a byte, and the end of its line. */
static bool redis_take_length(struct text_cursor *text, char mark, uint64_t most, uint64_t *length)
{
	return text_take_byte(text, mark) && text_take_number(text, most, length) && text_take_literal(text, "\r\n");
}

/* The command in capitals. False: it has bytes that no command has. */
static bool redis_read_command(struct text_cursor word, char command[static MOST_COMMAND_BYTES + 1])
{
	size_t size = text_left(word);

	if (size == 0 || size > MOST_COMMAND_BYTES)
		return false;
	for (size_t i = 0; i < size; i++) {
		char byte = word.at[i];

		if (byte >= 'a' && byte <= 'z')
			byte = (char)(byte - 'a' + 'A');
		if ((byte < 'A' || byte > 'Z') && (byte < '0' || byte > '9') && byte != '_' && byte != '.' &&
			byte != '-')
			return false;
		command[i] = byte;
	}
	command[size] = '\0';
	return true;
}

/* "EVAL 1a2b3c4d" of a script that is whole in these bytes, by the first digits of its SHA-1. */
static bool describe_script(const char *command, struct text_cursor text, char *name, size_t name_size)
{
	struct text_cursor script;
	uint64_t size, digits;

	if (!redis_take_length(&text, '$', MOST_BYTES, &size) || size > text_left(text))
		return false;
	script = text_over(text.at, (size_t)size);
	if (strncmp(command, "EVALSHA", strlen("EVALSHA")) != 0) {
		snprintf(name, name_size, "%s %08x", command, sha1_start(script.at, text_left(script)));
		return true;
	}
	script.end = size < SCRIPT_DIGITS ? script.at : script.at + SCRIPT_DIGITS;
	if (!text_take_hex(&script, &digits) || text_left(script) > 0)
		return false;
	snprintf(name, name_size, "%s %0*llx", command, SCRIPT_DIGITS, (unsigned long long)digits);
	return true;
}

static void add_command(struct routes_reading *reading, const char *command, struct text_cursor arguments)
{
	char name[PLACE_TEXT_BYTES];

	if (IS_ONE_OF(command, scripted) && describe_script(command, arguments, name, sizeof(name)))
		reading_add_word(reading, name);
	else
		reading_add_word(reading, command);
}

/* Moves behind the arguments, as far as they are seen. */
static void redis_skip_arguments(struct routes_reading *reading, struct text_cursor text, uint64_t count)
{
	uint64_t size;

	while (count-- > 0) {
		if (!redis_take_length(&text, '$', MOST_BYTES, &size) || size + 2 > text_left(text)) {
			text.at = text.end;
			break;
		}
		text.at += size + 2;
	}
	reading_move(reading, text.at);
}

static bool redis_read_line(struct routes_reading *reading)
{
	struct text_cursor text = reading_text(reading), word = text_take_word(&text, " \r\n");
	char command[MOST_COMMAND_BYTES + 1];

	if (!redis_read_command(word, command) || (!text_is_at(text, ' ') && !text_starts_with(text, "\r\n")) ||
		!(reading->connection->protocol == ROUTES_REDIS ? IS_ONE_OF(command, redis_commands)
								: IS_ONE_OF(command, first_lines)))
		return false;
	reading_add_word(reading, command);
	reading_skip_line(reading);
	return true;
}

bool redis_read(struct routes_reading *reading)
{
	struct text_cursor text = reading_text(reading), word;
	char command[MOST_COMMAND_BYTES + 1];
	uint64_t count, size;

	if (!redis_take_length(&text, '*', MOST_ARGUMENTS, &count))
		return redis_read_line(reading);
	if (count == 0 || !redis_take_length(&text, '$', MOST_COMMAND_BYTES, &size))
		return false;
	word = text_take_word(&text, "\r\n");
	if (text_left(word) != size || !redis_read_command(word, command))
		return false;
	/* A module's commands have words as well; what is none is not named. */
	if (!IS_ONE_OF(command, redis_commands) && (!strchr(command, '.') || text_left(word_kept(word)) == 0))
		snprintf(command, sizeof(command), "%s", "{command}");
	text_take_literal(&text, "\r\n");
	add_command(reading, command, text);
	redis_skip_arguments(reading, text, count - 1);
	return true;
}

enum routes_outcome redis_answer(struct routes_connection *connection, struct byte_reader bytes)
{
	uint8_t first = byte_reader_u8(&bytes);

	(void)connection;
	if (first == '-' || first == '!')
		return ROUTES_ANSWER_ERROR;
	return first && strchr("+:$*_#,(=%~>|", first) ? ROUTES_ANSWER_OK : ROUTES_ANSWER_UNKNOWN;
}
