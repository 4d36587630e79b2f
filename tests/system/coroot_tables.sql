CREATE TABLE IF NOT EXISTS profiling_stacks (
	ServiceName LowCardinality(String) CODEC(ZSTD(1)),
	Hash UInt64 CODEC(ZSTD(1)),
	LastSeen DateTime64(9) CODEC(Delta, ZSTD(1)),
	Stack Array(String) CODEC(ZSTD(1))
)
ENGINE ReplacingMergeTree()
PRIMARY KEY (ServiceName, Hash)
TTL toDateTime(LastSeen) + toIntervalSecond(604800)
PARTITION BY toDate(LastSeen)
ORDER BY (ServiceName, Hash);
CREATE TABLE IF NOT EXISTS profiling_samples (
	ServiceName LowCardinality(String) CODEC(ZSTD(1)),
    Type LowCardinality(String) CODEC(ZSTD(1)),
	Start DateTime64(9) CODEC(Delta, ZSTD(1)),
	End DateTime64(9) CODEC(Delta, ZSTD(1)),
	Labels Map(LowCardinality(String), String) CODEC(ZSTD(1)),
	StackHash UInt64 CODEC(ZSTD(1)),
	Value Int64 CODEC(ZSTD(1))
) ENGINE MergeTree()
TTL toDateTime(Start) + toIntervalSecond(604800)
PARTITION BY toDate(Start)
ORDER BY (ServiceName, Type, toUnixTimestamp(Start), toUnixTimestamp(End));
