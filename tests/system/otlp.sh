#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# OTLP profiles that OpenTelemetry's own messages wrote, as protobuf and as JSON in both spellings, are read as the same.
# READS | OTLP profiles, protobuf and JSON | opentelemetry-proto 1.10 and 1.11 | stacks, sample types, processes and threads; resources as labels; attributes of samples, but those of single requests
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

needs jq
python=$ROOT/build/python/bin/python3
[[ -x $python ]] || python=python3
"$python" -c 'from opentelemetry.proto.profiles.v1development import profiles_pb2 as p; assert p.Sample.VALUES_FIELD_NUMBER == 4' \
	2>/dev/null || skip "no opentelemetry-proto of OTLP 1.10 or newer is installed"
run 0 "$python" "$ROOT/tests/system/otlp.py" shop
cat >samples <<'END'
shop;main;work;inner_[i] 3
shop;main;work;inner_[i];ksys_read_[k] 1
END
gzip -k shop.otlp shop.json
for file in shop.otlp shop.json shop.snake.json shop.otlp.gz shop.json.gz; do
	run 0 kelvin report "$file" --folded - --metric samples
	cmp -s stdout samples || fail "$file: other stacks"
	run 0 kelvin report "$file" --folded - --metric off_cpu
	says stdout '^shop;main;shop[+]0x[0-9a-f]+ 1500000$'
	run 0 kelvin report "$file" --json report.json --text -
	says stdout '4 samples in 5.0 s'
	jq -e '.recording.labels == {"service": "checkout", "version": "4.2.1"} and .metrics == ["samples", "off_cpu"]' report.json \
		>/dev/null || fail "$file: other labels or metrics"
done
run 0 kelvin report shop.otlp --metric samples --by route --json report.json
[[ $(jq -c '[.groups[] | [.value, .count]]' report.json) == '[["/upload",4]]' ]] || fail "$(jq -c .groups report.json)"
refuses '--by shard: no sample has it; there are: .*process, route$' kelvin report shop.otlp --by shard
run_any kelvin diff shop.otlp shop.json --text -
head -c 300 shop.otlp >cut.otlp
refuses 'cannot read cut.otlp: .* malformed' kelvin report cut.otlp
cat shop.snake.json shop.snake.json >lines.json
refuses 'cannot read lines.json: it holds several OTLP messages, one a line; .*split -l 1' kelvin report lines.json
