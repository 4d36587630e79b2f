#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Profiles go to a Pyroscope that its own API's handlers make, and come back: a comparison of what lies there proves what the files prove,
# nothing is lost and nothing there twice whatever happens on the way, and what it refuses is said plainly.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

needs go
needs curl
use_go_cache
server=$ROOT/build/pyroscope/server
mkdir -p "${server%/*}"
# Elsewhere than in place, as another test may be executing it.
[[ $server -nt $ROOT/tests/system/pyroscope_server/main.go ]] || {
	(cd "$ROOT/tests/system/pyroscope_server" && GOMAXPROCS=2 nice -n 10 go build -o "$work/server" .) >build.log 2>&1 ||
		skip "the test's server cannot be built: $(tail -n 1 build.log)"
	mv "$work/server" "$server"
}
unset KELVIN_STORE_TOKEN KELVIN_STORE_USER KELVIN_STORE_PASSWORD
start "$server" 0 port
wait_until "the server listens" test -s port
origin=127.0.0.1:$(<port)
store=pyroscope+http://$origin

ask() {
	curl -sS --fail "http://$origin/$1"
}

# stored SERVICE: how many profiles it has of it.
stored() {
	ask stored | grep -c "service_name=$1\b"
}

# profile NAME START BETA: a pprof that began START seconds ago: alpha takes 1,000 ms and beta BETA, somewhat; BETA 0: one that is larger
# than what Pyroscope takes.
profile() {
	"$python" "$ROOT/tests/system/store_profile.py" "$@"
}
python=python3

# ---- There and back ----

mkdir base head
for i in 1 2 3 4 5 6 7 8; do
	profile base/$i.pb.gz $((600 - i * 30)) 1000
	profile head/$i.pb.gz $((600 - i * 30)) 1300
done
run 2 kelvin push "$store" base/1.pb.gz
says stderr '--label service=NAME'
run 0 kelvin push "$store" base/*.pb.gz --label service=api --label version=41
[[ $(grep -c '^pushed ' stdout) -eq 8 ]] || fail "not a line for each"
run 0 kelvin push "$store" head/*.pb.gz --label service=api --label version=42
run 0 kelvin push "$store" base/3.pb.gz --label service=api --label version=41
says stdout 'was there already'
[[ $(stored api) -eq 16 ]] || fail "$(stored api) profiles, not 16"
run_any kelvin diff "$store?service=api&version=41" "$store?query=process_cpu:cpu:nanoseconds:cpu:nanoseconds{service_name=\"api\",version=\"42\"}" --scale per-run --metric cpu --json diff.json
[[ $(jq -r .verdict diff.json) == regressed ]] || fail "what is proven of the files is not proven of the store: $(jq -r .verdict_text diff.json)"
run_any kelvin diff "$(printf '%s,' base/*.pb.gz | sed 's/,$//')" "$(printf '%s,' head/*.pb.gz | sed 's/,$//')" --scale per-run --metric cpu --json files.json
cmp -s <(jq -S '.totals | {base_ns, head_ns, ns}' files.json) <(jq -S '.totals | {base_ns, head_ns, ns}' diff.json) || fail "other totals: $(jq -c .totals diff.json), not $(jq -c .totals files.json)"
run 0 kelvin report "$store?service=api&metric=off-cpu"
run 2 kelvin report "$store?service=none"
says stderr 'no profile that the address asks for'
ask gone
run_any kelvin diff "$store?service=api&version=41" "$store?service=api&version=42" --scale per-run --metric cpu --json gone.json
cmp -s <(jq -S '.totals | {base_ns, head_ns, ns}' files.json) <(jq -S '.totals | {base_ns, head_ns, ns}' gone.json) || fail "other totals without SelectMergeProfile"

# ---- Over time ----

for i in 1 2 3 4 5 6 7 8 9; do
	profile base/old$i.pb.gz $((3000 - i * 100)) 1000
	profile head/new$i.pb.gz $((1500 - i * 100)) 1300
done
run 0 kelvin push "$store" base/old*.pb.gz head/new*.pb.gz --label service=history
run 0 kelvin history "$store?service=history"
says stdout '2 changes are open'
says stdout "kelvin diff 'pyroscope.*service=history&from=[0-9.]+&until="
run 2 kelvin history "$store?service=history" base/1.pb.gz
rm base/old*.pb.gz head/new*.pb.gz

# ---- Instances ----

for i in 1 2 3 4 5 6; do
	run 0 kelvin push "$store" base/$i.pb.gz --label service=pods --label "pod=a.b+$i"
done
run 0 kelvin report "$store?service=pods" --metric cpu --json pods.json
run 0 kelvin report "$(printf '%s,' base/[1-6].pb.gz | sed 's/,$//')" --metric cpu --json six.json
cmp -s <(jq -S '.totals | {base_ns, head_ns, ns}' six.json) <(jq -S '.totals | {base_ns, head_ns, ns}' pods.json) || fail "pods have other totals than their files"

# ---- What it does not take ----

profile old.pb.gz 7200 1000
run 2 kelvin push "$store" old.pb.gz base/1.pb.gz --label service=old
says stderr 'old.pb.gz is not stored: .*last hour only'
says stderr '1 of 2 profiles are not stored'
says stdout '^pushed base/1.pb.gz'
# More stacks than it takes of one, and one that is too deep, with a name that is no UTF-8.
profile large.pb.gz 300 0
run 0 kelvin push "$store" large.pb.gz --label service=large
says stderr 'it is stored as [0-9]+ profiles'
says stderr '1 stacks are stored without their outermost callers'
[[ $(stored large) -gt 1 ]] || fail "it is stored as $(stored large) profile"
run 0 kelvin report "$store?service=large" --metric cpu --json large.json
run 0 kelvin report large.pb.gz --metric cpu --json file.json
cmp -s <(jq -S '.totals | {base_ns, head_ns, ns}' file.json) <(jq -S '.totals | {base_ns, head_ns, ns}' large.json) || fail "the pieces have another sum"
run 0 kelvin push "$store" large.pb.gz --label service=large
says stdout 'was there already'
# A profile without a time.
echo 'main;alpha 7' >untimed.txt
run 2 kelvin push "$store" untimed.txt --label service=untimed
says stderr 'does not say when it was recorded'

# ---- Nothing lost, nothing twice ----

ask 'faults?percent=25'
run 0 kelvin push "$store" base/*.pb.gz head/*.pb.gz --label service=faults --patience 120
[[ $(stored faults) -eq 16 ]] || fail "with faults $(stored faults) profiles are stored, not 16"
ask 'faults?percent=0'
run 0 kelvin report "$store?service=faults" --metric cpu --json faults.json
run 0 kelvin report "$(printf '%s,' base/*.pb.gz head/*.pb.gz | sed 's/,$//')" --metric cpu --json all.json
cmp -s <(jq -S '.totals | {base_ns, head_ns, ns}' all.json) <(jq -S '.totals | {base_ns, head_ns, ns}' faults.json) || fail "with faults the totals are others"

# ---- Secrets ----

ask 'token?value=open-sesame'
run 2 kelvin push "$store" base/1.pb.gz --label service=secret
says stderr 'KELVIN_STORE_TOKEN'
export KELVIN_STORE_TOKEN=closed-sesame
run 2 kelvin push "$store" base/1.pb.gz --label service=secret
says_not stderr sesame
export KELVIN_STORE_TOKEN=open-sesame
run 0 kelvin push "$store" base/1.pb.gz --label service=secret
run 0 kelvin report "$store?service=secret" -o report.html --json report.json
! grep -q sesame report.html report.json stdout stderr || fail "the token is in a report"

# A token that may write and not read, as those are that agents get.
ask 'token?value=open-sesame&writer=half-open-sesame'
KELVIN_STORE_TOKEN=half-open-sesame run 0 kelvin push "$store" base/1.pb.gz base/2.pb.gz --label service=writer
says stderr 'may be there twice'
says_not stderr sesame
[[ $(stored writer) -eq 2 ]] || fail "a token that may only write stored $(stored writer) profiles, not 2"

# ---- A server that means harm ----

mkdir other evil
start "$python" "$ROOT/tests/system/hostile_store.py" other
wait_until "the other server listens" test -s other/port
start "$python" "$ROOT/tests/system/hostile_store.py" evil "$(<other/port)"
wait_until "the server listens" test -s evil/port
evil=pyroscope+http://127.0.0.1:$(<evil/port)

run 0 kelvin push "$evil/busy" base/1.pb.gz --label service=x
for what in html file elsewhere endless garbage json; do
	run 2 kelvin push "$evil/$what" base/1.pb.gz --label service=x --patience 2
	says_not stderr sesame
	run 2 kelvin report "$evil/$what?service=x"
	says_not stderr sesame
done
for what in failing closing; do
	run 2 kelvin push "$evil/$what" base/1.pb.gz --label service=x --patience 1
	says_not stderr sesame
done
[[ ! -e other/log ]] || fail "a redirect was followed: $(<other/log)"
grep -aq sesame evil/log || fail "the named server did not get the token"
! grep -aq sesame evil/bodies || fail "the token is in what was pushed"

# While it waits, nobody sees the token.
start "$KELVIN" push "$evil/stalling" base/1.pb.gz --label service=x
pushing=$pid
wait_until "the push waits" grep -q stalling evil/log
for process in "$pushing" $(pgrep -P "$pushing"); do
	! grep -aq sesame "/proc/$process/environ" "/proc/$process/cmdline" 2>/dev/null || fail "the token is in the process list"
done
stop "$pushing"
