#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What an installation puts where, and that man, bash, zsh and fish find it there.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

needs cmake
build=$(dirname "$(dirname "$KELVIN")")
[[ -f $build/cmake_install.cmake ]] || skip "the program does not lie in a build folder"

# install_to PREFIX: under ./PREFIX, as a packager does it.
install_to() {
	DESTDIR=$work/root run 0 cmake --install "$build" --prefix "$1"
}

for prefix in /usr /usr/local /opt/kelvin; do
	rm -rf root
	install_to $prefix
	run 0 "root$prefix/bin/kelvin" --version
	for page in kelvin kelvin-record kelvin-simulate kelvin-diff kelvin-bench kelvin-report kelvin-recover kelvin-symbolize kelvin-doctor kelvin-mcp kelvin-watch kelvin-push; do
		[[ -s root$prefix/share/man/man1/$page.1 ]] || fail "no manual page $page below $prefix"
	done
	for file in bash-completion/completions/kelvin fish/vendor_completions.d/kelvin.fish doc/kelvin/report.md; do
		[[ -s root$prefix/share/$file ]] || fail "no $file below $prefix/share"
	done
	[[ ! -e root$prefix/libexec/kelvin/kelvin-amd64-linux || -x root$prefix/libexec/kelvin/launcher ]] || fail "nothing starts the tool"
	[[ -x root$prefix/libexec/kelvin/node/node && -s root$prefix/lib/tmpfiles.d/kelvin.conf ]] || fail "no node for suites below $prefix"
	links=$(find root -type l)
	[[ -z $links ]] || fail "a package would lack what these link to: $links"
	if [[ $prefix == /opt/kelvin ]]; then continue; fi

	if command -v zsh >/dev/null; then
		found=
		for folder in $(zsh -fc 'print -l $fpath'); do
			[[ ! -s root$folder/_kelvin ]] || found=$work/root$folder
		done
		[[ -n $found ]] || fail "zsh looks nowhere where its completion lies below $prefix"
		run 0 zsh -fc "fpath=($found \$fpath); autoload -U compinit; compinit -u -D; print \$_comps[kelvin]"
		says stdout '^_kelvin$'
	fi
	if command -v fish >/dev/null; then
		found=
		# fish reads what lies below /usr/local only where this says so.
		for folder in $(XDG_DATA_DIRS=/usr/local/share:/usr/share HOME=$work fish -c "string join \\n \$fish_complete_path"); do
			[[ ! -s root$folder/kelvin.fish ]] || found=$work/root$folder
		done
		[[ -n $found ]] || fail "fish looks nowhere where its completion lies below $prefix"
		PATH=$work/root$prefix/bin:$PATH HOME=$work run 0 fish -c "set -p fish_complete_path $found; complete -C 'kelvin rec'"
		says stdout '^record'
	fi
done

# What a Debian package holds besides, and a program with the name that the package expects.
rm -rf root
install_to /usr
if [[ -s /usr/share/doc/libzydis-dev/copyright && -s /usr/share/doc/libgsl-dev/copyright ]]; then
	run 0 "$ROOT/scripts/package-files" root/usr --debian 1.2.3-1 'Some Body <some@body.example>'
	version=$("$KELVIN" --version | sed 's/^kelvin //')
	[[ $(gzip -dc root/usr/share/man/man1/kelvin.1.gz | wc -l) -gt 10 && ! -e root/usr/share/man/man1/kelvin.1 ]] || fail "the manual is not packed"
	[[ $(gzip -dc root/usr/share/doc/kelvin/changelog.gz) == *"[$version]"* ]] || fail "the changelog lacks version $version"
	gzip -dc root/usr/share/doc/kelvin/changelog.Debian.gz >changelog
	says changelog '^kelvin \(1\.2\.3-1\) '
	says_not changelog '^.{80}'
	if command -v dpkg-parsechangelog >/dev/null; then
		run 0 dpkg-parsechangelog -l changelog -S Version
		[[ $(<stdout) == 1.2.3-1 && ! -s stderr ]] || fail "Debian does not read the changelog"
	fi
	for file in copyright licences/valgrind licences/libelf-dev ci/gitlab.yml; do
		[[ -s root/usr/share/doc/kelvin/$file ]] || fail "the package lacks $file"
	done
fi
says "$build/CPackConfig.cmake" "CPACK_PACKAGE_VERSION \"$("$KELVIN" --version | sed 's/^kelvin //')\""
says "$build/CPackConfig.cmake" 'CPACK_PACKAGING_INSTALL_PREFIX "/usr"'

# What is not built is told before anything is copied.
mkdir copy
sed "s|$build/|$work/copy/|g" "$build/cmake_install.cmake" >copy/cmake_install.cmake
rm -rf root
DESTDIR=$work/root run 1 cmake --install copy --prefix /usr
says stderr 'Nothing was installed: cli/kelvin is not built'
[[ ! -e root ]] || fail "half an installation: $(find root -type f)"
