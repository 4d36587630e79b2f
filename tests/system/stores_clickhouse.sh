#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Profiles go to ClickHouse's real engine and come back: a comparison of what lies there is that of the files, sums are those of the
# profiles, nothing counts twice whatever happens on the way, and the tables that Coroot fills are read as they are.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

needs jq
needs curl
python=$ROOT/build/clickhouse/bin/python3
[[ -x $python ]] || python=python3
"$python" -c 'import chdb' 2>/dev/null ||
	skip "ClickHouse's engine is not installed: pip install --no-deps -r tests/system/requirements-clickhouse.txt"
export KELVIN_STORE_USER=kelvin KELVIN_STORE_PASSWORD=secret
pairs=$ROOT/tests/data/pairs
mkdir server
start "$python" "$ROOT/tests/system/clickhouse_server.py" server
wait_until "the server listens" test -s server/port
origin=127.0.0.1:$(<server/port)
store=clickhouse+http://$origin/kelvin

client() {
	"$WORKLOADS/store_client" "$@"
}

# sql STATEMENT [DATABASE]: what the engine says.
sql() {
	curl -sS --fail-with-body -u kelvin:secret --data-binary "$1" "http://$origin/?database=${2:-kelvin}" >answer || fail "$1: $(<answer)"
	cat answer
}

# faults MATCH DO [MORE]: what goes wrong next, as clickhouse_server.py has it.
faults() {
	curl -sS -d "[{\"match\": \"$1\", \"do\": \"$2\"${3:+, $3}}]" "http://$origin/faults"
}

# counts FILTER: profiles that count, and the rows of functions and samples that do.
counts() {
	local pushes="SELECT push FROM kelvin_profiles WHERE $1 ORDER BY push LIMIT 1 BY id"

	sql "SELECT (SELECT count() FROM ($pushes)), (SELECT count() FROM kelvin_functions WHERE push IN ($pushes)),
		(SELECT sum(values[1]) FROM kelvin_samples WHERE push IN ($pushes))"
}

# same_comparison BASE HEAD BASE HEAD: two comparisons say the same of everything but where the profiles come from.
same_comparison() {
	local part

	run_any kelvin diff "$1" "$2" --json one.json
	run_any kelvin diff "$3" "$4" --json other.json
	for part in verdict verdict_text functions changes totals origins evidence scale metrics warnings; do
		cmp -s <(jq -S ".$part" one.json) <(jq -S ".$part" other.json) || {
			diff <(jq -S ".$part" one.json) <(jq -S ".$part" other.json) | head -n 20
			fail "the comparisons differ in $part"
		}
	done
}

# ---- A few profiles are as they were ----

run 0 client push "$store" service=redis,version=1 "$pairs/redis_base.pb.gz"
says stdout '^sent$'
run 0 client push "$store" service=redis,version=2 "$pairs/redis_head.pb.gz"
before=$(counts "service = 'redis'")
run 0 client push "$store" service=redis,version=1 "$pairs/redis_base.pb.gz"
says stdout '^was there$'
[[ $(counts "service = 'redis'") == "$before" ]] || fail "pushed again: $(counts "service = 'redis'"), not $before"
mkdir base head
run 0 client fetch "$store?service=redis&version=1" base
run 0 client fetch "$store?service=redis&version=2" head
same_comparison base/0.pb.gz head/0.pb.gz "$pairs/redis_base.pb.gz" "$pairs/redis_head.pb.gz"
run 0 kelvin report base/0.pb.gz --json report.json
jq -e '.recording.labels.version == "1"' report.json >/dev/null || fail "a label is not in the profile"
total=$(jq .totals.ns report.json)

# ---- Likewise by the commands ----

run 0 kelvin push "$store" "$pairs/redis_base.pb.gz" --label service=commands
says stdout '^pushed .*redis_base.pb.gz$'
run 0 kelvin push "$store" "$pairs/redis_base.pb.gz" --label service=commands
says stdout 'was there already$'
run_any kelvin diff "$store?service=commands" "$store?service=redis&version=2" --json diff.json
run 0 kelvin history "$store?service=redis"
says_not stderr .

# ---- Sums, and the profiles of summaries ----

run 0 client summaries "$store?service=redis"
[[ $(grep -c ^profile stdout) -eq 2 ]] || fail "not two summaries"
[[ $(awk -F'\t' '/^profile/ && $8 == "1" { print $4 }' stdout) -eq $total ]] || fail "another total than $total"
awk -F'\t' '$1 == "row" && $5 > 0 { print $3, $5 }' stdout | sort -k2,2gr >summed
jq -r '.functions[] | select(.self_ns > 0) | "\(.shown) \(.self_ns)"' report.json | head -n 1 >largest
grep -qxF "$(<largest)" summed || fail "the largest function is $(<largest), which the sums have not"
mkdir ids
run 0 client ids "$store?service=redis" ids
[[ -s ids/0.pb.gz && -s ids/1.pb.gz ]] || fail "not two profiles by their ids"

# ---- Many profiles are added up by instance ----

for side in base head; do
	files=()
	for i in 1 2 3 4 5; do
		for copy in 1 2 3 4 5; do
			files+=("$pairs/inlined_${side}_$i.pb.gz@pod-$i$copy")
		done
	done
	run 0 client push "$store" "service=fleet,version=$side" "${files[@]}"
	[[ $(grep -c '^sent$' stdout) -eq 25 ]] || fail "not 25 were sent"
	rm -f "$side"/*
	run 0 client fetch "$store?service=fleet&version=$side" "$side"
	says stdout '^25 instances$'
	names=$(printf '%s\n' "${files[@]%@*}" | paste -sd,)
	declare "all_$side=$names"
done
# shellcheck disable=SC2154
same_comparison base/0.pb.gz head/0.pb.gz "$all_base" "$all_head"

# ---- Whatever happens on the way, each counts once ----

# pushed_once WHAT: the profile of the directory `one` is there once, with all its rows.
once=0
pushes_once() {
	once=$((once + 1))
	run 0 client push "$store" "service=once$once" "$pairs/quiet_1.pb.gz"
	says stdout '^sent$'
	[[ -n ${expected:-} ]] || expected=$(counts "service = 'once$once'")
	[[ $(counts "service = 'once$once'") == "$expected" ]] || fail "$1: $(counts "service = 'once$once'"), not $expected"
}

pushes_once "without a fault"
for table in kelvin_functions kelvin_samples kelvin_profiles; do
	for fault in before after close; do
		faults "INSERT INTO $table " "$fault"
		pushes_once "$table, $fault"
	done
done
faults "INSERT INTO kelvin_functions" before '"status": 429, "text": "busy"'
pushes_once "status 429"
# An engine that remembers no insert.
sql "ALTER TABLE kelvin_functions MODIFY SETTING non_replicated_deduplication_window = 0"
sql "ALTER TABLE kelvin_profiles MODIFY SETTING non_replicated_deduplication_window = 0"
for table in kelvin_functions kelvin_profiles; do
	faults "INSERT INTO $table " close
	pushes_once "$table without a window, close"
done
# A push that breaks off adds nothing.
faults "INSERT INTO kelvin_profiles " before '"status": 400, "times": 1'
run 1 client push "$store" service=broken "$pairs/quiet_2.pb.gz"
[[ $(counts "service = 'broken'") == $'0\t0\t0' ]] || fail "what broke off counts: $(counts "service = 'broken'")"
# Two at once.
for ((i = 0; i < 2; i++)); do
	client push "$store" service=two "$pairs/quiet_1.pb.gz" >"two$i" 2>&1 &
	pushers[i]=$!
done
wait "${pushers[@]}" || fail "one of two pushers failed: $(cat two0 two1)"
[[ $(counts "service = 'two'") == "$expected" ]] || fail "two at once: $(counts "service = 'two'"), not $expected"

# ---- What is wrong is said ----

faults "FROM kelvin_functions" body '"bytes": 100'
run 1 client summaries "$store?service=redis"
says stderr 'broke off its answer: Memory limit'
faults "FROM kelvin_files" cut '"bytes": 100'
run 1 client fetch "$store?service=nobody" base
says stderr "no profile in the store is what '.*service=nobody' asks for"
faults "FROM kelvin_profiles" answer '"text": "<html>log in</html>"'
run 1 client fetch "$store?service=redis" base
says stderr "answer"
run 1 client fetch "clickhouse+http://$origin/nowhere?service=redis" base
says stderr 'Database nowhere does not exist.*create it'
KELVIN_STORE_PASSWORD=wrong run 1 client fetch "$store?service=redis" base
says stderr 'Authentication failed.*KELVIN_STORE_USER'
says_not stderr wrong
sql "CREATE DATABASE empty"
KELVIN_STORE_USER=reader run 1 client push "clickhouse+http://$origin/empty" "" "$pairs/quiet_1.pb.gz"
says stderr "may not create tables in 'empty'.*docs/stores.md"
KELVIN_STORE_USER=reader run 0 client fetch "$store?service=redis&version=1" base
run 1 client fetch "clickhouse+http://$origin/empty" base
says stderr "'kelvin push' creates the tables"
# Texts are values, whatever is in them.
odd="a'b\\\"; DROP TABLE kelvin_profiles --	\`{p0:String}"
run 0 client push "$store" "service=odd,place=${odd%%	*}" "$pairs/quiet_1.pb.gz"
rm -f base/*
run 0 client fetch "$store?place=a%27b%5C%22%3B%20DROP%20TABLE%20kelvin_profiles%20--" base
[[ $(grep -c . stdout) -eq 1 ]] || fail "not one profile has the odd label"
run 1 client fetch "$store?place=%27%20OR%201%3D1%20--" base
says stderr 'no profile'
sql "CREATE DATABASE later"
run 0 client push "clickhouse+http://$origin/later" "" "$pairs/quiet_1.pb.gz"
sql "INSERT INTO kelvin_profiles (push, schema, id) VALUES (1, 2, generateUUIDv4())" later
run 1 client push "clickhouse+http://$origin/later" "" "$pairs/quiet_2.pb.gz"
says stderr 'of a later kelvin \(schema 2, this one knows 1\)'
run 1 client fetch "clickhouse+http://$origin/later" base
says stderr 'of a later kelvin'

# ---- The statements of docs/stores.md ----

sql "CREATE DATABASE docs"
awk '/^```sql$/ { n++; inside = 1; next } /^```$/ { inside = 0 } inside { print > "docs" n ".sql" }' "$ROOT/docs/stores.md"
while IFS= read -r -d ';' statement; do
	sql "$statement" docs
done <docs1.sql
columns="SELECT table, name, type, default_expression, compression_codec FROM system.columns WHERE database = '%s' AND table LIKE 'kelvin%%' ORDER BY ALL"
# shellcheck disable=SC2059
[[ $(sql "$(printf "$columns" kelvin)") == "$(sql "$(printf "$columns" docs)")" ]] || fail "the tables of docs/stores.md are others"
sql "$(<docs2.sql)"
for file in docs3.sql docs4.sql; do
	while IFS= read -r -d ';' statement; do
		[[ -n ${statement//[[:space:]]/} ]] && sql "EXPLAIN AST $statement" >ast
	done <$file
done

# ---- Coroot ----

sql "CREATE DATABASE coroot"
while IFS= read -r -d ';' statement; do
	sql "$statement" coroot
done <"$ROOT/tests/system/coroot_tables.sql"
sql "INSERT INTO coroot.profiling_samples SELECT concat('/k8s/shop/', version), 'ebpf:cpu:nanoseconds', now64(9) - 60, now64(9) - 59,
	map('pod', instance, 'namespace', 'shop'), stack, values[2] FROM kelvin_samples
	INNER JOIN (SELECT push, version, instance FROM kelvin_profiles WHERE service = 'fleet') AS p USING push"
# A row of stacks for each sample, of which merges leave one.
sql "INSERT INTO coroot.profiling_stacks SELECT concat('/k8s/shop/', version), stack, now64(9), arrayFlatten(frames_texts) FROM kelvin_samples
	INNER JOIN (SELECT push, version FROM kelvin_profiles WHERE service = 'fleet') AS p USING push
	INNER JOIN (SELECT stack, arrayMap(x -> x.2, arraySort(groupArray((position, texts)))) AS frames_texts FROM
		(SELECT stack, position, frame FROM (SELECT stack, frames FROM kelvin_stacks LIMIT 1 BY stack)
			ARRAY JOIN frames AS frame, arrayEnumerate(frames) AS position) AS k
		INNER JOIN (SELECT frame, arrayMap(l -> concat(l.1, ' ', l.3, ':', toString(l.10)), lines) AS texts FROM kelvin_frames LIMIT 1 BY frame) AS f
		USING frame GROUP BY stack) AS s USING stack"
coroot=clickhouse+coroot+http://$origin/coroot
for side in base head; do
	rm -f "$side"/*
	run 0 client fetch "$coroot?service=/k8s/shop/$side&namespace=shop" "$side"
	says stdout '^25 instances$'
done
run_any kelvin diff base/0.pb.gz head/0.pb.gz --json coroot.json
run_any kelvin diff "$all_base" "$all_head" --json files.json
times='[.functions[] | select(.shown | test("unguarded_partition|_ZN|lambda")) | [.name, .base_self_ns, .head_self_ns]] | sort'
[[ $(jq length <<<"$(jq -c "$times" files.json)") -ge 3 ]] || fail "too few functions to compare"
[[ $(jq -c "$times" coroot.json) == "$(jq -c "$times" files.json)" ]] || fail "Coroot: $(jq -c "$times" coroot.json), not $(jq -c "$times" files.json)"
run 1 client push "$coroot" "" "$pairs/quiet_1.pb.gz"
says stderr 'are only read'
run 1 client fetch "$coroot?service=/k8s/shop/base&type=go:profile_cpu:nanoseconds" base
says stderr 'has profiles of the types ebpf:cpu:nanoseconds'
run 1 client fetch "$coroot" base
says stderr 'add service=NAME'
