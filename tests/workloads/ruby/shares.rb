# SPDX-License-Identifier: GPL-3.0-or-later
# A program of known CPU shares: shares.rb FILE [SECONDS]
#
# Parts of different kinds (a method, a block, a callback of C code, a fiber, a thread, ...) run in turn, in slices, until the process has used
# SECONDS of CPU time (default 3). FILE then has a line for each: the label and the file of the code that the part is, and the CPU time that
# its thread used while it ran, in percent of that of the process.

SLICE = 0.004
$spent = Hash.new(0.0)

def cpu_time
  Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
end

# Computes for a slice.
def work(weight = 1.0)
  stop = cpu_time + SLICE * weight
  total = 0
  while cpu_time < stop
    i = 0
    while i < 3000
      total += i & 7
      i += 1
    end
  end
  total
end

# Adds the CPU time of a block to the code of a label, which calls this.
def part(label)
  start = cpu_time
  yield
  $spent[label] += cpu_time - start
end

def plain = part("plain") { work(2) }

class Outer
  def method_ = part("method_") { work }
  def self.of_class = part("of_class") { work(0.5) }
  def method_missing(*) = part("method_missing") { work }
  def respond_to_missing?(*) = false
  def <=>(_other) = part("<=>") { work } && 0
end

def outer_method
  part("outer_method") do
    work(0.5)
    inner_method
  end
end

def inner_method = part("inner_method") { work(1.5) }

def sort_key = [1].sort_by { part("block in sort_key") { work } || 1 }

def replace = "abc".gsub("b") { part("block in replace") { work(0.7) }.to_s }

def in_c_code
  part("in_c_code") do
    numbers = (1..500).to_a.reverse
    stop = cpu_time + SLICE
    while cpu_time < stop
      ("ab" * 8).match?(/(a|b|ab)*c/)
      numbers.sort
      numbers.inspect
    end
  end
end

def recursion(depth)
  depth > 0 ? recursion(depth - 1) : part("recursion") { work }
end

def in_fiber = Fiber.new { part("block in in_fiber") { work } }.resume

def in_thread = Thread.new { part("block in in_thread") { work } }.join

stop = (ARGV[1] || 3).to_f
while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < stop
  plain
  Outer.new.method_
  Outer.of_class
  Outer.new.any
  [Outer.new, Outer.new].sort
  outer_method
  sort_key
  replace
  in_c_code
  recursion(100)
  in_fiber
  in_thread
end
total = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
File.write(ARGV[0], $spent.map { |label, time| format("%s\t%s\t%.4f\n", label, File.realpath(__FILE__), 100 * time / total) }.join)
