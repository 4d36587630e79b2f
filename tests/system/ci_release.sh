#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# scripts/ci-kelvin takes a release only as its signer left it, and unpacks or runs nothing of any other.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

needs curl
needs ssh-keygen
version=1.2.3
name=kelvin-$version-linux-x86_64.tar.xz
release=$work/releases/v$version

for key in signer other; do
	ssh-keygen -q -t ed25519 -N '' -C "$key" -f "$key"
done
signers="kelvin-release namespaces=\"kelvin-release\" $(<signer.pub)"

# A release whose program leaves a mark when it is run: `make_release KEY`; without one it is not signed.
make_release() {
	local key=${1:-}

	rm -rf releases made
	mkdir -p "$release" made/bin
	printf '#!/bin/sh\ntouch "%s/ran"\necho kelvin %s\n' "$work" "$version" >made/bin/kelvin
	chmod +x made/bin/kelvin
	tar --create --gzip --file "$release/$name" --transform 's,^made,kelvin,' made
	sum_up "$key"
}

sum_up() {
	(cd "$release" && sha256sum kelvin* >SHA256SUMS)
	rm -f "$release/SHA256SUMS.sig"
	[[ -z $1 ]] || sign "$1" kelvin-release
}

sign() {
	rm -f "$release/SHA256SUMS.sig"
	ssh-keygen -q -Y sign -f "$1" -n "$2" "$release/SHA256SUMS"
}

# get CODE SIGNERS [SCRIPTS]: what a job does, by these signers; scripts of another tree.
get() {
	rm -rf program ran
	run "$1" env KELVIN_VERSION=$version KELVIN_REPOSITORY=o/kelvin KELVIN_RELEASES="file://$work/releases" KELVIN_SIGNERS="$2" GITHUB_PATH="$work/path" \
		"${3:-$ROOT/scripts}/ci-kelvin" "$work/program"
}

# refused PATTERN [SIGNERS [SCRIPTS]]: nothing was unpacked, run or put on the PATH.
refused() {
	rm -f path
	get 2 "${2-$signers}" "${3:-$ROOT/scripts}"
	says stderr "$1"
	[[ ! -e program && ! -e ran && ! -e path ]] || fail "refused, and yet used: $1"
}

# As its signer left it; without signers, or with several, one of whom signed.
make_release signer
get 0 "$signers"
[[ -e ran && -s path ]] || fail "a good release was not taken"
get 0 "# who signs"$'\n'"kelvin-release $(<other.pub)"$'\n'"$signers"
make_release
get 0 ''

# No signature though one is asked for, or one by another key, for another purpose, under another name, or of another file.
refused 'the release is not signed: .*SHA256SUMS\.sig'
make_release other
refused 'not signed by one of the configured signers'
make_release signer && sign signer file
refused 'not signed by one of the configured signers'
make_release signer
refused 'not signed by one of the configured signers' "somebody $(<signer.pub)"
: >"$release/SHA256SUMS.sig"
refused 'not signed by one of the configured signers'
make_release signer && echo "$(sha256sum <"$release/$name" | cut -d ' ' -f 1)  x" >>"$release/SHA256SUMS"
refused 'not signed by one of the configured signers'

# Another tarball, with or without sums of its own.
make_release signer && echo more >>"$release/$name"
refused 'is not what SHA256SUMS says'
cp "$release/SHA256SUMS.sig" kept && sum_up '' && mv kept "$release/SHA256SUMS.sig"
refused 'not signed by one of the configured signers'

# An older release in the place of this one, well signed; sums of a file whose name only ends or begins alike, or that stand there twice.
make_release signer && mv "$release/$name" "$release/kelvin-1.2.2-linux-x86_64.tar.xz" && sum_up signer &&
	mv "$release/kelvin-1.2.2-linux-x86_64.tar.xz" "$release/$name"
refused "SHA256SUMS does not name $name"
make_release && cp "$release/$name" "$release/kelvin-$name" && cp "$release/$name" "$release/$name.sig" && sed -i 's/x86_64.tar.xz$/&.sig/' "$release/SHA256SUMS" &&
	sign signer kelvin-release
refused "SHA256SUMS does not name $name"
make_release && cat "$release/SHA256SUMS" >>"$release/SHA256SUMS.new" && sed 's/^./0/' "$release/SHA256SUMS" >>"$release/SHA256SUMS.new" &&
	mv "$release/SHA256SUMS.new" "$release/SHA256SUMS" && sign signer kelvin-release
refused 'more than once'

# Signers who are nobody, or no signers at all, are a mistake and not a consent.
make_release signer
refused 'names no key' $'# soon\n\n'
refused 'not signed by one of the configured signers' 'no key at all'

# A key that has ended.
refused 'not signed by one of the configured signers' "kelvin-release valid-before=\"20200101\" $(<signer.pub)"

# What the action's own commit names holds where nothing else is configured.
mkdir tree && cp -r "$ROOT/scripts" tree/
echo "$signers" >>tree/scripts/release-signers
get 0 '' "$work/tree/scripts"
make_release
refused 'the release is not signed' '' "$work/tree/scripts"
make_release other
refused 'not signed by one of the configured signers' '' "$work/tree/scripts"

# The machine has nothing to check it with.
make_release signer
mkdir tools
for tool in bash env dirname cat mktemp rm uname curl grep awk sha256sum tar mkdir cp printf; do
	ln -s "$(command -v $tool)" tools/
done
rm -rf program ran
run 2 env -i PATH="$work/tools" KELVIN_VERSION=$version KELVIN_REPOSITORY=o/kelvin KELVIN_RELEASES="file://$work/releases" KELVIN_SIGNERS="$signers" \
	"$ROOT/scripts/ci-kelvin" "$work/program"
says stderr 'ssh-keygen is not installed.*apt-get install openssh-client'
[[ ! -e program && ! -e ran ]] || fail "unchecked, and yet used"
