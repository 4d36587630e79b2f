# SPDX-License-Identifier: GPL-3.0-or-later
# Lines that cost what the program says: `lines.rb ROUNDS`. Rounds differ in length, so that no sampling keeps step.
LAPS = Hash.new(0)

def cpu
  Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond)
end

# Charges the time since the last lap to the line before the call.
def lap(charge = true)
  now = cpu
  LAPS[caller_locations(1, 1).first.lineno - 1] += now - $last if charge
  $last = cpu
end

def called(count)
  lap(false)
  value = (1..count).sum { |i| i & 3 }
  lap
  value
end

def work
  scale = rand(2..20)
  lap(false)
  value = (1..3000 * scale).inject(0) { |sum, i| sum ^ i }
  lap
  value += Array.new(2000 * scale) { |i| i * i % 7 }.length
  lap
  value += called(2500 * scale)
  lap(false)
  value += (1..scale).sum { |i| ('a' * (i * 400)).scan(/a/).length }
  lap
  value
end

start = cpu
ARGV[0].to_i.times { work }
puts "total #{cpu - start}"
LAPS.each { |line, spent| puts "lines.rb:#{line} #{spent}" }
