#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A store that has TLS: whose certificate nobody vouches for, or which is another host's, gets no token, and a proxy that leads to it sees
# none.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

needs openssl
needs python3
unset CURL_CA_BUNDLE SSL_CERT_FILE SSL_CERT_DIR http_proxy https_proxy all_proxy HTTPS_PROXY ALL_PROXY no_proxy NO_PROXY KELVIN_STORE_USER \
	KELVIN_STORE_PASSWORD

# certificate NAME ISSUER: NAME.pem and NAME.key, for localhost; without an issuer it is one itself.
certificate() {
	local subject="/CN=$1"

	if [[ -z ${2:-} ]]; then
		openssl req -x509 -newkey rsa:2048 -nodes -keyout "$1.key" -out "$1.pem" -subj "$subject" -days 2
	else
		openssl req -newkey rsa:2048 -nodes -keyout "$1.key" -out "$1.csr" -subj "$subject"
		openssl x509 -req -in "$1.csr" -CA "$2.pem" -CAkey "$2.key" -CAcreateserial -out "$1.pem" -days 2 \
			-extfile <(echo subjectAltName=DNS:localhost)
	fi
} 2>/dev/null
certificate authority
certificate server authority
certificate stranger

mkdir secure proxy
start python3 "$ROOT/tests/system/hostile_store.py" secure 0 server.pem server.key
wait_until "the server listens" test -s secure/port
port=$(<secure/port)
python3 "$ROOT/tests/system/store_profile.py" a.pb.gz 300 1000
export KELVIN_STORE_TOKEN=open-sesame

push() {
	run "$1" kelvin push "pyroscope+$2" a.pb.gz --label service=x --patience 1
	says_not stderr sesame
}

# ---- Who is not whom the user named gets nothing ----

push 2 "https://localhost:$port"
says stderr 'certificate'
CURL_CA_BUNDLE=$work/stranger.pem push 2 "https://localhost:$port"
says stderr 'certificate'
CURL_CA_BUNDLE=$work/authority.pem push 2 "https://127.0.0.1:$port"
says stderr '127\.0\.0\.1'
CURL_CA_BUNDLE=$work/none.pem push 2 "https://localhost:$port"
says stderr 'none.pem'
push 2 "http://localhost:$port"
[[ ! -e secure/log ]] || fail "it was sent: $(<secure/log)"

# ---- Who is, does ----

CURL_CA_BUNDLE=$work/authority.pem push 0 "https://localhost:$port"
grep -q 'PusherService/Push Bearer open-sesame' secure/log || fail "it was not sent: $(<secure/log)"
SSL_CERT_FILE=$work/authority.pem push 0 "https://localhost:$port/"

# ---- Through a proxy ----

start python3 "$ROOT/tests/system/hostile_store.py" proxy
wait_until "the proxy listens" test -s proxy/port
proxy=127.0.0.1:$(<proxy/port)
https_proxy=http://$proxy CURL_CA_BUNDLE=$work/authority.pem push 0 "https://localhost:$port"
grep -q "^CONNECT localhost:$port None" proxy/log || fail "the proxy was not asked"
! grep -q sesame proxy/log || fail "the proxy saw the token"
# Nor does an error say what a proxy is told.
https_proxy=http://me:barley@127.0.0.1:1 CURL_CA_BUNDLE=$work/authority.pem push 2 "https://localhost:$port"
says_not stderr barley

# A server that repeats a password as JSON does, whose parts that are ASCII are short.
run 2 env -u KELVIN_STORE_TOKEN KELVIN_STORE_USER=me KELVIN_STORE_PASSWORD=$'p\u00e4ssw\u00f6rter-\u00fcbel' \
	"$KELVIN" push "pyroscope+http://$proxy/refusing" a.pb.gz --label service=x --patience 1
says stderr 'not me:\*\*\*'
says_not stderr 'ssw|rter|bel'

# ---- Nobody is there ----

cp a.pb.gz b.pb.gz
cp a.pb.gz c.pb.gz
run 2 kelvin push pyroscope+http://127.0.0.1:1 a.pb.gz b.pb.gz c.pb.gz --label service=x --patience 1
[[ $(grep -c ' is not stored: ' stderr) -eq 1 ]] || fail "each profile was tried"
says stderr '^kelvin: 3 of 3 profiles are not stored, as the store is out of reach, and only the first of them was tried'
