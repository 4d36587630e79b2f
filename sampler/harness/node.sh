#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The `node` of `kelvin record --benchmarks`, first in the command's PATH. Harnesses for node need flags that node takes only at its start.
# Started with the variable, they write the flags into the file that it names, and end; a program without a harness runs as always, and
# that was it. The program is started again with the flags then (CodSpeed's runner, introspected_nodejs/node.sh).
# What outlives its suite keeps this PATH: without the folder of the suite this is the node that it would have been anyway.
here=${0%/*}
set -f
IFS=:
for directory in $PATH; do
	[ "$directory" != "$here" ] && [ -x "$directory/node" ] && [ ! -d "$directory/node" ] && break
done
unset IFS
node=$directory/node
[ -z "$__CODSPEED_NODE_CORE_INTROSPECTION_PATH__" ] || exec "$node" "$@"
[ -n "$CODSPEED_PROFILE_FOLDER" ] || exec "$node" "$@"
file=$(mktemp "$CODSPEED_PROFILE_FOLDER/flags.XXXXXX" 2>/dev/null) || exec "$node" "$@"
__CODSPEED_NODE_CORE_INTROSPECTION_PATH__=$file "$node" "$@"
code=$?
flags=$(tr -d '\n"' <"$file" | sed -n 's/.*flags *: *\[\([^]]*\)\].*/\1/p' | tr , ' ')
rm -f "$file"
[ -n "$flags" ] || exit $code
# Words of their own.
# shellcheck disable=SC2086
exec "$node" $flags "$@"
