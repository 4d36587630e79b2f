# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a profile with OpenTelemetry's own messages, as FILE.otlp and FILE.json: python3 otlp.py FILE"""
import sys

from google.protobuf import json_format
from opentelemetry.proto.profiles.v1development import profiles_pb2

data = profiles_pb2.ProfilesData()
tables = data.dictionary
strings = [""]
for table in ("mapping", "location", "function", "link", "attribute", "stack"):
    getattr(tables, table + "_table").add()


def string(text):
    if text not in strings:
        strings.append(text)
    return strings.index(text)


def attribute(key, value):
    added = tables.attribute_table.add()
    added.key_strindex = string(key)
    if isinstance(value, int):
        added.value.int_value = value
    else:
        added.value.string_value = value
    return len(tables.attribute_table) - 1


def location(names, kernel=None):
    added = tables.location_table.add()
    added.mapping_index = 0 if kernel else 1
    added.address = 0x400000 + len(tables.location_table)
    if kernel:
        added.attribute_indices.append(kernel)
    for name in names:
        tables.function_table.add().name_strindex = string(name)
        added.lines.add().function_index = len(tables.function_table) - 1
    return len(tables.location_table) - 1


def stack(*locations):
    tables.stack_table.add().location_indices.extend(reversed(locations))
    return len(tables.stack_table) - 1


def profile(pid, kind, unit, samples, *labels):
    resource = data.resource_profiles.add()
    for key, value in (("service.name", "checkout"), ("service.version", "4.2.1"), ("process.pid", pid),
                       ("process.executable.name", "shop")):
        added = resource.resource.attributes.add()
        added.key = key
        if isinstance(value, int):
            added.value.int_value = value
        else:
            added.value.string_value = value
    made = resource.scope_profiles.add().profiles.add()
    made.profile_id = bytes(range(16))
    made.sample_type.type_strindex = string(kind)
    made.sample_type.unit_strindex = string(unit)
    made.time_unix_nano = 1700000000000000000
    made.duration_nano = 5000000000
    for number, values, times in samples:
        sample = made.samples.add()
        sample.stack_index = number
        sample.values.extend(values)
        sample.timestamps_unix_nano.extend(made.time_unix_nano + time for time in times)
        sample.attribute_indices.extend([attribute("thread.id", pid + 1), attribute("thread.name", "worker"), *labels])


mapping = tables.mapping_table.add()
mapping.memory_start, mapping.memory_limit = 0x400000, 0x500000
mapping.filename_strindex = string("/usr/bin/shop")
main, inlined, nameless = location(["main"]), location(["inner", "work"]), location([])
system = location(["ksys_read"], attribute("profile.frame.type", "kernel"))
profile(17, "samples", "count", [(stack(main, inlined), [], [1, 2, 3]), (stack(main, inlined, system), [], [4])],
        attribute("route", "/upload"), attribute("span_id", "1f"), attribute("shard", 7))
profile(17, "off_cpu", "nanoseconds", [(stack(main, nameless), [1500000], [5])])
tables.string_table.extend(strings)

with open(sys.argv[1] + ".otlp", "wb") as file:
    file.write(data.SerializeToString())
with open(sys.argv[1] + ".json", "w", encoding="utf-8") as file:
    file.write(json_format.MessageToJson(data))
with open(sys.argv[1] + ".snake.json", "w", encoding="utf-8") as file:
    file.write(json_format.MessageToJson(data, preserving_proto_field_name=True, indent=None))
