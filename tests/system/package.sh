#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What scripts/package makes of a build is the same whoever packs it, when and where; what the packages consist of is told in SPDX; SHA256SUMS is
# signed. That two builds in two places give the same programs is shown by `scripts/package --check`, which takes minutes.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

for tool in dpkg-deb dpkg-shlibdeps file xz readelf ssh-keygen python3 cpack jq; do
	needs "$tool"
done
build=$(dirname "$(dirname "$KELVIN")")
[[ -x $build/sampler/simulate/tool/kelvin-amd64-linux ]] || skip "this build has no tool for kelvin simulate"
[[ -s /usr/share/doc/libzydis-dev/copyright && -s /usr/share/doc/libgsl-dev/copyright ]] || skip "the licences of what is linked in are not installed"
epoch=1700000001
export SOURCE_DATE_EPOCH=$epoch

# Another copy of the scripts, whose release names a key.
ssh-keygen -q -t ed25519 -N '' -C release -f key
ssh-keygen -q -t ed25519 -N '' -C other -f other
mkdir -p 'another place' && cp -r "$ROOT/scripts" "$ROOT/CHANGELOG.md" "$ROOT/LICENSE" 'another place/'
echo "kelvin-release namespaces=\"kelvin-release\" $(<key.pub)" >>'another place/scripts/release-signers'

# A key that the release does not name is refused before anything is built.
run 2 'another place/scripts/package' --from "$build" --output refused --sign other
says stderr 'none of the keys in scripts/release-signers'
run 2 'another place/scripts/package' --from "$build" --output refused --sign missing
[[ -z $(ls refused) ]] || fail "packages with a wrong key"

# Two packagers, with other habits, a second apart.
(umask 077 && sleep 1.1 && mkdir -p deep/er/tmp && TMPDIR=$PWD/deep/er/tmp HOME=/nonexistent USER=packager LOGNAME=packager LANG=C.UTF-8 LC_ALL=C.UTF-8 \
	TZ=Asia/Kathmandu XZ_OPT=-9e XZ_DEFAULTS=--threads=2 GZIP=-1 TAR_OPTIONS=--mode=777 \
	exec 'another place/scripts/package' --from "$build" --output second --sign key) >second.log 2>&1 &
run 0 "$ROOT/scripts/package" --from "$build" --output first
wait $! || fail "the second packager failed: $(cat second.log)"
version=$("$KELVIN" --version | sed -n '1s/^kelvin //p')
deb=kelvin_$version-1_amd64.deb
tarball=kelvin-$version-linux-x86_64.tar.xz
[[ $(ls first | tr '\n' ' ') == "SHA256SUMS $tarball $tarball.spdx.json $deb $deb.spdx.json " ]] || fail "other files: $(ls first)"
for file in first/*; do
	cmp "$file" "second/${file##*/}" || fail "$file depends on who packs it"
done

# Nothing tells whose machine it was.
(cd first && sha256sum --check --strict --quiet SHA256SUMS) || fail "wrong sums"
[[ $(wc -l <first/SHA256SUMS) -eq 4 ]] || fail "SHA256SUMS does not name each file"
TZ=UTC tar --list --verbose --full-time --numeric-owner --file "first/$tarball" >list
dpkg-deb --fsys-tarfile "first/$deb" | TZ=UTC tar --list --verbose --full-time --numeric-owner --file - >>list
! grep -vE ' 0/0 .* 2023-11-14 22:13:21 ' list || fail "owners or times of the machine that packed"
! grep -vE '^(drwxr-xr-x|-rwxr-xr-x|-rw-r--r--) ' list || fail "modes of the packager's umask"
[[ $(tar --list --file "first/$tarball") == "$(tar --list --file "first/$tarball" | sort)" ]] || fail "the order is the folder's"

# The signature is of these sums, by this key, and in this namespace.
(cd second && ssh-keygen -Y verify -f '../another place/scripts/release-signers' -I kelvin-release -n kelvin-release -s SHA256SUMS.sig <SHA256SUMS) >/dev/null ||
	fail "the signature is wrong"

# What they consist of.
for file in "$deb" "$tarball"; do
	run 0 python3 "$ROOT/tests/system/spdx.py" "first/$file.spdx.json" "first/$file"
done
jq -r '.relationships[] | select(.relationshipType == "STATIC_LINK") | .relatedSpdxElement' "first/$deb.spdx.json" >linked
for package in libelf-dev libdw-dev libseccomp-dev valgrind; do
	says linked "^SPDXRef-Package-$package$"
done
jq -e --arg version "$(dpkg-query -W -f '${Version}' libelf-dev)" '.packages[] | select(.name == "libelf-dev") | .versionInfo == $version' \
	"first/$deb.spdx.json" >/dev/null || fail "another version of libelf than is linked in"
jq -e '[.relationships[] | select(.spdxElementId == "SPDXRef-Package-valgrind" and .relationshipType == "CONTAINS")] | length == 3' \
	"first/$deb.spdx.json" >/dev/null || fail "valgrind's own files are not told of"
! grep -lF -- "$ROOT" first/*.json || fail "a folder of this machine is in the description"

# A library whose licence is not handed on stops the release.
mkdir bare && tar --extract --file "first/$tarball" --directory bare && rm -r bare/*/share/doc/kelvin/licences/libelf-dev
tar --create --file "bare-$version.tar" --directory bare .  --transform 's,^\./,,' --exclude=.
run 1 "$ROOT/scripts/package-sbom" "bare-$version.tar" "$build"
says stderr 'lacks the licence of libelf-dev'
