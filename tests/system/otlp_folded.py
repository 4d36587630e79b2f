# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints the folded stacks of each profile of an OTLP file, by OpenTelemetry's own messages: python3 otlp_folded.py FILE TYPE"""
import collections
import gzip
import sys

from opentelemetry.proto.collector.profiles.v1development import profiles_service_pb2
from opentelemetry.proto.profiles.v1development import profiles_pb2

with (gzip.open if sys.argv[1].endswith(".gz") else open)(sys.argv[1], "rb") as file:
    written = file.read()
data = profiles_pb2.ProfilesData.FromString(written)
# Both messages have the same fields, and nothing that they do not know.
assert profiles_service_pb2.ExportProfilesServiceRequest.FromString(written).SerializeToString(deterministic=True) == written
tables = data.dictionary
for field in tables.DESCRIPTOR.fields:
    table = getattr(tables, field.name)
    assert table[0] == type(table[0])(), field.name
    entries = [entry if isinstance(entry, str) else entry.SerializeToString() for entry in table]
    assert field.name in ("mapping_table", "location_table", "function_table") or len(set(entries)) == len(entries), field.name


def attributes(indices):
    pairs = [tables.attribute_table[index] for index in indices]
    assert 0 not in indices
    return {tables.string_table[pair.key_strindex]: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}


def names(index):
    location = tables.location_table[index]
    kind = attributes(location.attribute_indices).get("profile.frame.type", "native")
    lines = [tables.string_table[tables.function_table[line.function_index].name_strindex] for line in location.lines]
    ends = ["_[k]" if kind == "kernel" else "_[i]"] * (len(lines) - 1) + ["_[k]" if kind == "kernel" else ""]
    return [name.replace(";", ":") + end for name, end in zip(lines, ends)][::-1]


stacks = collections.Counter()
(resource,) = data.resource_profiles
(scope,) = resource.scope_profiles
for profile in scope.profiles:
    assert profile.time_unix_nano > 0 and profile.duration_nano > 0
    if tables.string_table[profile.sample_type.type_strindex] != sys.argv[2]:
        continue
    for sample in profile.samples:
        labels = attributes(sample.attribute_indices)
        assert labels["process.pid"] > 0 and labels["thread.id"] > 0 and labels["thread.name"]
        assert len(sample.values) == len(sample.timestamps_unix_nano)
        for time in sample.timestamps_unix_nano:
            assert -10**9 < time - profile.time_unix_nano < profile.duration_nano + 10**9
        frames = [name for index in reversed(tables.stack_table[sample.stack_index].location_indices) for name in names(index)]
        stacks[";".join([labels["process.executable.name"], *frames])] += sum(sample.values)
for text in sorted(f"{stack} {value}".encode() for stack, value in stacks.items()):
    sys.stdout.buffer.write(text + b"\n")
print({pair.key: pair.value.string_value for pair in resource.resource.attributes}, file=sys.stderr)
mapped = [attributes(mapping.attribute_indices) for mapping in tables.mapping_table]
print(sum("process.executable.build_id.gnu" in pairs for pairs in mapped), "build ids", file=sys.stderr)
