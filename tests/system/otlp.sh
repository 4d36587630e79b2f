#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# OTLP profiles that OpenTelemetry's own messages wrote, as protobuf and as JSON in both spellings, are read as the same; what Kelvin writes,
# these messages read, with the stacks and values of the recording.
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

# What was read is written and read again.
run 0 kelvin report shop.otlp --otlp again.otlp
run 0 kelvin report again.otlp --folded - --metric samples
cmp -s stdout samples || fail "other stacks"
run 0 kelvin report again.otlp --json again.json
jq -e '.recording.labels == {"service": "checkout", "version": "4.2.1"} and .metrics == ["samples", "off_cpu"]' again.json >/dev/null ||
	fail "other labels or metrics: $(jq -c '.recording.labels, .metrics' again.json)"
refuses '--otlp .*would write over the profile' kelvin report again.otlp --otlp again.otlp
refuses '--otlp again.gz: .*both write|both write to again.gz' kelvin report again.otlp --folded again.gz --otlp again.gz

can_sample
run 0 kelvin record -o real.pb.gz --label service=checkout --label host=a1 --label team=x -- "$WORKLOADS/system_workload" --seconds 0.3
run 0 kelvin report real.pb.gz --otlp real.otlp
run 0 kelvin report real.pb.gz --otlp real.otlp.gz
cmp -s real.otlp <(gzip -dc real.otlp.gz) || fail "the gzipped file holds something else"
[[ $(kelvin report real.pb.gz --otlp - | cksum) == "$(cksum <real.otlp)" ]] || fail "standard output has something else"
for metric in cpu samples; do
	run 0 kelvin report real.pb.gz --folded real.folded --metric "$metric"
	at_least "$(wc -l <real.folded)" 2 "stacks"
	run 0 "$python" "$ROOT/tests/system/otlp_folded.py" real.otlp.gz "$metric"
	diff <(LC_ALL=C sort real.folded) <(LC_ALL=C sort stdout) >difference || fail "other $metric: $(head -c 1000 difference)"
	says stderr "^{'service.name': 'checkout', 'host.name': 'a1'}$"
	says stderr '^[1-9][0-9]* build ids$'
	run 0 kelvin report real.otlp --folded read.folded --metric "$metric"
	cmp -s real.folded read.folded || fail "Kelvin reads other $metric than it wrote"
done
