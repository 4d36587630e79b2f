# SPDX-License-Identifier: GPL-3.0-or-later
# Reads lines of JSON, counts, matches and sorts: batch.rb FOLDER.
require "json"
require "digest"

def count(rows)
  rows.each_with_object(Hash.new(0)) { |row, counts| row["tags"].each { |tag| counts[tag] += 1 } }
end

def match(rows)
  rows.count { |row| row["name"] =~ /\b([a-f]+)\w* (\w*[aeiou]{2}\w*)/ }
end

def primes(most)
  marks = Array.new(most, true)
  (2...most).each do |i|
    next unless marks[i]

    (i * i).step(most - 1, i) { |j| marks[j] = false }
  end
  marks.count(true)
end

rows = File.foreach("#{ARGV[0]}/rows.json").map { |line| JSON.parse(line) }
sorted = rows.sort_by { |row| [row["name"], row["price"]] }
puts [count(rows).size, match(rows), primes(1_500_000), Digest::SHA256.hexdigest(sorted.first(30000).map { |row| format("%05d %s", row["id"], row["name"]) }.join)].join(" ")
