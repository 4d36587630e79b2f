# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# What the scripts share. To be sourced after `set -euo pipefail`.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export DEBIAN_FRONTEND=noninteractive

# Debian's names of what a build needs.
# shellcheck disable=SC2034
build_packages=(cmake ninja-build gcc g++ libc6-dev clang bpftool libbpf-dev pkg-config libelf-dev libdw-dev libseccomp-dev
	libunwind-dev libprotobuf-c-dev protobuf-c-compiler libdeflate-dev libiberty-dev libgsl-dev libjansson-dev libzstd-dev valgrind
	liblzma-dev libbz2-dev libzydis-dev zlib1g-dev libsqlite3-dev libcmocka-dev esbuild scdoc libcurl4-openssl-dev)

# Debian's names of what scripts/lint runs.
# shellcheck disable=SC2034
lint_packages=(clang-format clang-tidy shellcheck)

say() {
	if [[ -t 2 && -z ${NO_COLOR:-} ]]; then
		printf '\033[1m==>\033[0m %s\n' "$*" >&2
	else
		printf '==> %s\n' "$*" >&2
	fi
}

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 2
}

as_root() {
	if [[ $(id -u) -eq 0 ]]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		die "needs root for: $*; run it as root or install sudo"
	fi
}

has_package() {
	[[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# Installs those of the packages that are missing.
need_packages() {
	local package missing=()

	command -v dpkg-query >/dev/null || {
		say "this is no Debian: taking for granted what goes by these names there: $*"
		return 0
	}
	for package in "$@"; do
		has_package "$package" || missing+=("$package")
	done
	[[ ${#missing[@]} -gt 0 ]] || return 0
	say "installing ${missing[*]}"
	[[ -n ${packages_listed:-} ]] || as_root apt-get update -qq >&2
	packages_listed=1
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# need_tool COMMAND PACKAGE [COMMAND PACKAGE]...: installs, in one go, the packages whose commands are not on PATH, wherever those came from.
need_tool() {
	local missing=()

	while [[ $# -gt 0 ]]; do
		command -v "$1" >/dev/null || missing+=("$2")
		shift 2
	done
	[[ ${#missing[@]} -eq 0 ]] || need_packages "${missing[@]}"
}

# build PRESET [TARGET...]: configures and builds, with the tests that an installation does without; what it prints is shown only when it fails.
build() {
	local preset=$1 log

	shift
	log=$(mktemp)
	(cd "$root" && cmake --preset "$preset" -D KELVIN_TESTS=ON && cmake --build --preset "$preset" ${1:+--target "$@"}) >"$log" 2>&1 || {
		cat "$log" >&2
		rm -f "$log"
		die "the build failed (preset $preset)"
	}
	rm -f "$log"
}

# Seconds since the epoch, with a fraction.
now() {
	date +%s.%N
}

# since START: "12.3 s"
since() {
	awk -v start="$1" -v end="$(now)" 'BEGIN { printf "%.1f s", end - start }'
}

# ---- Who signs a release: OpenSSH's signatures, of SHA256SUMS ----

# The namespace of the signatures, and the name of the signer in a file of allowed signers (ssh-keygen(1)).
# shellcheck disable=SC2034
release_signer=kelvin-release

# Whether the file of allowed signers on standard input has any.
has_signers() {
	grep -qvE '^[[:space:]]*(#|$)'
}

# verify_signature SIGNERS FILE: whether FILE.sig is the signature of FILE by one of the signers.
verify_signature() {
	ssh-keygen -Y verify -f "$1" -I "$release_signer" -n "$release_signer" -s "$2.sig" <"$2"
}
