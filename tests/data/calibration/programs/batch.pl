# SPDX-License-Identifier: GPL-3.0-or-later
# Reads lines of text, counts, matches and sorts: batch.pl FOLDER.
use strict;
use warnings;

open my $file, '<', "$ARGV[0]/text" or die;
my (%counts, $found, @lines);
while (my $line = <$file>) {
	last if $. > 250000;
	$counts{$_}++ for split / /, $line;
	$found++ if $line =~ /\b([a-f]+)\w* (\w*[aeiou]{2}\w*)/;
	push @lines, join ' ', reverse split / /, $line;
}
my @sorted = sort { $a cmp $b } @lines;
print scalar(keys %counts), " $found $sorted[0]";
