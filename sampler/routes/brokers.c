/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/routes/reading.h"

/* Brokers of messages: MQTT 3.1.1 and 5, AMQP 0-9-1, NATS (its client protocol), Kafka (its protocol guide). */

enum { MQTT_CONNECT = 1, MQTT_PACKETS = 16, AMQP_HEADER_BYTES = 7, AMQP_METHOD = 1, AMQP_HEARTBEAT = 8 };

/* [type]; NULL: no request. Names of topics are nobody's to see. */
static const char *const mqtt_packets[MQTT_PACKETS] = { NULL, "CONNECT", NULL, "PUBLISH", NULL, NULL, "PUBREL", NULL,
	"SUBSCRIBE", NULL, "UNSUBSCRIBE", NULL, "PINGREQ", NULL, NULL, NULL };

bool mqtt_read(struct routes_reading *reading)
{
	struct byte_reader packet = reading->bytes;
	struct text_cursor text;
	uint8_t first = byte_reader_u8(&packet), type = first >> 4;
	bool is_known = reading->connection->protocol == ROUTES_MQTT;
	uint64_t size = byte_reader_uleb128(&packet);

	if (!byte_reader_ok(&packet) || size > 256 << 20 || type == 0)
		return false;
	text = text_over((const char *)packet.pos, byte_reader_left(&packet));
	if (!is_known && (first != MQTT_CONNECT << 4 || text_left(text) < 6 ||
				 (memcmp(text.at, "\0\4MQTT", 6) != 0 && memcmp(text.at, "\0\6MQIs", 6) != 0)))
		return false;
	if (mqtt_packets[type])
		reading_add_word(reading, mqtt_packets[type]);
	reading->bytes = packet;
	reading_skip(reading, size);
	return true;
}

/* Methods that clients send: class, method. Those of connections are a handshake, and acknowledgements answer others.
 */
static const struct {
	uint32_t id;
	const char *name;
} amqp_methods[] = {
	{ 40 << 16 | 10, "exchange.declare" },
	{ 40 << 16 | 20, "exchange.delete" },
	{ 40 << 16 | 30, "exchange.bind" },
	{ 40 << 16 | 40, "exchange.unbind" },
	{ 50 << 16 | 10, "queue.declare" },
	{ 50 << 16 | 20, "queue.bind" },
	{ 50 << 16 | 30, "queue.purge" },
	{ 50 << 16 | 40, "queue.delete" },
	{ 50 << 16 | 50, "queue.unbind" },
	{ 60 << 16 | 10, "basic.qos" },
	{ 60 << 16 | 20, "basic.consume" },
	{ 60 << 16 | 30, "basic.cancel" },
	{ 60 << 16 | 40, "basic.publish" },
	{ 60 << 16 | 70, "basic.get" },
	{ 60 << 16 | 110, "basic.recover" },
	{ 85 << 16 | 10, "confirm.select" },
	{ 90 << 16 | 10, "tx.select" },
	{ 90 << 16 | 20, "tx.commit" },
	{ 90 << 16 | 30, "tx.rollback" },
};

static void add_amqp_method(struct routes_reading *reading, uint32_t id)
{
	for (size_t i = 0; i < sizeof(amqp_methods) / sizeof(*amqp_methods); i++)
		if (amqp_methods[i].id == id)
			reading_add_word(reading, amqp_methods[i].name);
}

bool amqp_read(struct routes_reading *reading)
{
	struct text_cursor text = reading_text(reading);
	struct byte_reader frame = reading->bytes;
	uint32_t size;
	uint8_t type;

	if (text_take_literal(&text, "AMQP")) {
		reading_skip(reading, 8);
		return true;
	}
	/* A frame alone is like many other bytes. */
	if (reading->connection->protocol != ROUTES_AMQP)
		return false;
	type = byte_reader_u8(&frame);
	byte_reader_skip(&frame, 2);
	size = read_be32(&frame);
	if (!byte_reader_ok(&frame) || type < AMQP_METHOD || type > AMQP_HEARTBEAT)
		return false;
	if (type == AMQP_METHOD)
		add_amqp_method(reading, read_be32(&frame));
	reading_skip(reading, (uint64_t)AMQP_HEADER_BYTES + size + 1);
	return true;
}

static const struct {
	const char *verb;
	bool is_request, has_payload, begins; /* begins: a connection is known by it */
} nats_verbs[] = {
	{ "CONNECT", false, false, true },
	{ "PUB", true, true, true },
	{ "HPUB", true, true, true },
	{ "SUB", true, false, true },
	{ "UNSUB", false, false, true },
	{ "PING", true, false, false },
	{ "PONG", false, false, false },
};

/* The last word of a line is a number in all that carry a payload or subscribe. */
static bool take_last_number(struct text_cursor line, uint64_t *number)
{
	struct text_cursor word = line;

	while (word.at < line.end) {
		word = text_take_word(&line, " \t");
		text_skip_blanks(&line);
		if (text_left(line) == 0)
			break;
	}
	return text_take_number(&word, UINT32_MAX, number) && text_left(word) == 0;
}

static bool is_nats_line(const char *verb, struct text_cursor line)
{
	uint64_t number;

	if (strcmp(verb, "CONNECT") == 0) {
		text_skip_blanks(&line);
		return text_is_at(line, '{');
	}
	return take_last_number(line, &number);
}

bool nats_read(struct routes_reading *reading)
{
	struct text_cursor text = reading_text(reading), line = text_take_word(&text, "\r\n");
	struct text_cursor verb = text_take_word(&line, " \t");
	uint64_t payload_bytes = 0;

	for (size_t i = 0; i < sizeof(nats_verbs) / sizeof(*nats_verbs); i++) {
		if (!text_is(verb, nats_verbs[i].verb))
			continue;
		if (reading->connection->protocol != ROUTES_NATS &&
			(!nats_verbs[i].begins || !is_nats_line(nats_verbs[i].verb, line)))
			return false;
		if (nats_verbs[i].is_request)
			reading_add_word(reading, nats_verbs[i].verb);
		if (reading_skip_line(reading) && nats_verbs[i].has_payload && take_last_number(line, &payload_bytes))
			reading_skip(reading, payload_bytes + 2);
		return true;
	}
	return false;
}

enum routes_outcome nats_answer(struct routes_connection *connection, struct byte_reader bytes)
{
	struct text_cursor text = text_over((const char *)bytes.pos, byte_reader_left(&bytes));

	(void)connection;
	if (text_starts_with(text, "-ERR"))
		return ROUTES_ANSWER_ERROR;
	return text_left(text) > 0 ? ROUTES_ANSWER_OK : ROUTES_ANSWER_UNKNOWN;
}

/* [API key] */
static const char *const kafka_apis[] = { "Produce", "Fetch", "ListOffsets", "Metadata", "LeaderAndIsr", "StopReplica",
	"UpdateMetadata", "ControlledShutdown", "OffsetCommit", "OffsetFetch", "FindCoordinator", "JoinGroup",
	"Heartbeat", "LeaveGroup", "SyncGroup", "DescribeGroups", "ListGroups", "SaslHandshake", "ApiVersions",
	"CreateTopics", "DeleteTopics", "DeleteRecords", "InitProducerId", "OffsetForLeaderEpoch", "AddPartitionsToTxn",
	"AddOffsetsToTxn", "EndTxn", "WriteTxnMarkers", "TxnOffsetCommit", "DescribeAcls", "CreateAcls", "DeleteAcls",
	"DescribeConfigs", "AlterConfigs", "AlterReplicaLogDirs", "DescribeLogDirs", "SaslAuthenticate",
	"CreatePartitions", "CreateDelegationToken", "RenewDelegationToken", "ExpireDelegationToken",
	"DescribeDelegationToken", "DeleteGroups", "ElectLeaders", "IncrementalAlterConfigs",
	"AlterPartitionReassignments", "ListPartitionReassignments", "OffsetDelete", "DescribeClientQuotas",
	"AlterClientQuotas", "DescribeUserScramCredentials", "AlterUserScramCredentials", "Vote", "BeginQuorumEpoch",
	"EndQuorumEpoch", "DescribeQuorum", "AlterPartition", "UpdateFeatures", "Envelope", "FetchSnapshot",
	"DescribeCluster", "DescribeProducers", "BrokerRegistration", "BrokerHeartbeat", "UnregisterBroker",
	"DescribeTransactions", "ListTransactions", "AllocateProducerIds", "ConsumerGroupHeartbeat" };

enum { KAFKA_MOST_VERSION = 30, KAFKA_MOST_BYTES = 256 << 20, KAFKA_MOST_CLIENT = 255 };

bool kafka_read(struct routes_reading *reading)
{
	struct byte_reader header = reading->bytes;
	uint32_t size = read_be32(&header), api = read_be16(&header), version = read_be16(&header);
	uint32_t client_bytes;

	byte_reader_skip(&header, 4);
	client_bytes = read_be16(&header);
	if (!byte_reader_ok(&header) || size < 10 || size > KAFKA_MOST_BYTES || version > KAFKA_MOST_VERSION ||
		api >= sizeof(kafka_apis) / sizeof(*kafka_apis) ||
		(client_bytes != UINT16_MAX && (client_bytes > KAFKA_MOST_CLIENT || client_bytes + 10 > size)))
		return false;
	/* The client's id is text. */
	for (size_t i = 0; client_bytes != UINT16_MAX && i < client_bytes && i < byte_reader_left(&header); i++)
		if (header.pos[i] < ' ' || header.pos[i] > '~')
			return false;
	reading_add_word(reading, kafka_apis[api]);
	reading_skip(reading, (uint64_t)size + 4);
	return true;
}
