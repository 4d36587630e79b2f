# SPDX-License-Identifier: GPL-3.0-or-later
# A program that says itself in which calls it is: steps.rb FILE [SECONDS [STEP,STEP,...]]
#
# It goes through chains of calls of all kinds. At the end of each it has its thread named after the step, computes for a while, and gives the
# thread its old name back: the thread's name in a sample tells the step, to the instruction. FILE gets the chain of each step, as
# caller_locations() tells it: `STEP LABEL FILE LINE` for each frame, the outermost first, without those of methods that are written in C, and
# without the class that labels have since Ruby 3.4. The line of the innermost one is 0, for it moves on. An empty line follows.

SECONDS = (ARGV[1] || 0.05).to_f
LOG = File.open(ARGV[0], "a")
LOG.sync = true
LOGGED = {}
# Methods that are written in Ruby; blocks and bodies of classes and files are too.
OWN = %w[outer middle inner method_ of_class missing method_missing to_s <=> call_block yielding recurse recurse_through_c rescued forked
         ensured defined_ singleton patched refined in_thread enumerated coerce hash here here_in_c]

def own_chain
  locations = caller_locations(2).map do |location|
    label = location.label.sub(/\b[A-Z][\w:]*[#.](?=\S)/, "")
    path = (location.absolute_path || location.path || "").sub(/\A(\(eval at .*):\d+\)\z/, '\1)')
    # What eval() compiles is called so by Ruby 3.4, whose backtraces say where it is.
    label = "<compiled>" if RUBY_VERSION >= "3.4" && path.start_with?("(eval") && label == "block in <main>"
    [label, path, location.lineno]
  end
  locations.reject! { |label, path, _| path.start_with?("<internal:") || !(label.match?(/(block|rescue|ensure) |^<\w/) || OWN.include?(label)) }
  locations[0][2] = 0
  locations.reverse
end

# While it lasts, the thread's name says which step it is in.
class NamedThread
  def enter(step)
    chain = own_chain
    raise "step #{step} has several chains" if (LOGGED[step] ||= chain) != chain
    LOG.write(chain.map { |label, path, line| "#{step}\t#{label}\t#{path}\t#{line}\n" }.join + "\n")
    @comm = File.open("/proc/thread-self/comm", "r+")
    @before = @comm.sysread(16)
    @comm.syswrite("step:" + step[0, 10])
  end

  def leave
    @comm.syswrite(@before)
    @comm.close
  end
end

def tick(i)
  i & 7
end

# The end of a chain: computes in Ruby, with calls.
def here(step)
  named = NamedThread.new
  named.enter(step)
  stop = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + SECONDS
  while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) < stop
    i = total = 0
    while i < 2000
      total += tick(i)
      i += 1
    end
  end
  named.leave
  0
end

NUMBERS = (1..2000).to_a.reverse
TEXT = "abababc" * 1000

# The end of a chain: computes in C code that calls nothing back.
def here_in_c(step)
  named = NamedThread.new
  named.enter(step)
  stop = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + SECONDS
  while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) < stop
    NUMBERS.sort
    TEXT.scan(/(?:a|b)+c/)
    NUMBERS.sum
  end
  named.leave
end

def outer(step)
  middle(step)
end

def middle(step)
  inner(step)
end

def inner(step)
  here(step)
end

class Shape
  include Comparable

  attr_accessor :step

  def initialize(step = nil)
    @step = step
  end

  def method_(step)
    here(step)
  end

  def self.of_class(step)
    here(step)
  end

  def method_missing(_name, step)
    here(step)
  end

  def respond_to_missing?(*)
    false
  end

  def to_s
    here(@step)
    "shape"
  end

  def <=>(_other)
    here(@step)
    0
  end

  def hash
    here(@step)
    1
  end

  def coerce(_other)
    here(@step)
    [1, 1]
  end

  define_method(:defined_) { |step| here(step) }
end

module Patch
  def patched(step)
    super
  end
end

class Base
  def patched(step)
    here(step)
  end
end

class Derived < Base
  prepend Patch
end

def yielding(step)
  yield step
end

def call_block(step, &block)
  block.call(step)
end

def recurse(depth, step)
  depth > 0 ? recurse(depth - 1, step) : here(step)
end

def recurse_through_c(depth, step)
  depth > 0 ? [step].map { |s| recurse_through_c(depth - 1, s) } : here(step)
end

def rescued(step)
  raise step
rescue => error
  here(error.message)
end

def ensured(step)
  yielding(step) { |s| return s }
ensure
  here(step)
end

def in_thread(step)
  Thread.new { middle(step) }.join
end

def forked(step)
  pid = fork do
    middle(step)
    Process.kill(:KILL, Process.pid)
  end
  Process.wait(pid)
end

def enumerated(step)
  enumerator = Enumerator.new { |to| inner(step); to << 1 }
  enumerator.next
end

LOADED = "#{File.realpath(File.dirname(ARGV[0]))}/steps_loaded.rb"
STEPS = {
  "plain" => ->(s) { outer(s) },
  "in_c" => ->(s) { here_in_c(s) },
  "method" => ->(s) { Shape.new.method_(s) },
  "classm" => ->(s) { Shape.of_class(s) },
  "lambda" => ->(s) { ->(t) { ->(u) { inner(u) }.call(t) }.(s) },
  "proc" => ->(s) { proc { |t| inner(t) }.call(s) },
  "yield" => ->(s) { yielding(s) { |t| inner(t) } },
  "block" => ->(s) { call_block(s) { |t| inner(t) } },
  "symbol" => ->(s) { [s].each(&method(:middle)) },
  "map" => ->(s) { [s].map { |t| inner(t) } },
  "times" => ->(s) { 1.times { inner(s) } },
  "hash_each" => ->(s) { { s => 1 }.each { |t, _| inner(t) } },
  "inject" => ->(s) { [1, 2].inject { |_, _| inner(s) } },
  "sort_by" => ->(s) { [1].sort_by { inner(s) } },
  "sort" => ->(s) { [Shape.new(s), Shape.new(s)].sort },
  "gsub" => ->(s) { "abc".gsub("b") { inner(s).to_s } },
  "send" => ->(s) { send(:outer, s) },
  "missing" => ->(s) { Shape.new.any(s) },
  "to_s" => ->(s) { "#{Shape.new(s)}" },
  "for" => ->(s) { for t in [s] do inner(t) end },
  "operator" => ->(s) { Shape.new(s) < Shape.new(s) },
  "coerce" => ->(s) { 1 + Shape.new(s) },
  "key" => ->(s) { { Shape.new(s) => 1 } },
  "defined" => ->(s) { Shape.new.defined_(s) },
  "singleton" => ->(s) { o = Object.new; def o.singleton(t) = here(t); o.singleton(s) },
  "prepend" => ->(s) { Derived.new.patched(s) },
  "rescue" => ->(s) { rescued(s) },
  "ensure" => ->(s) { ensured(s) },
  "inst_eval" => ->(s) { Shape.new.instance_eval { method_(s) } },
  "eval" => ->(s) { eval("inner(s)") },
  "evaldef" => ->(s) { eval("def refined(t) outer(t) end; refined(s)") },
  "classbody" => ->(s) { $step = s; eval("class Body; here($step); end") },
  "load" => ->(s) { $step = s; load(LOADED) },
  "catch" => ->(s) { catch(:done) { inner(s) } },
  "loop" => ->(s) { loop { inner(s); break } },
  "tap" => ->(s) { s.tap { |t| inner(t) } },
  "fiber" => ->(s) { Fiber.new { inner(s) }.resume },
  "enum_next" => ->(s) { enumerated(s) },
  "thread" => ->(s) { in_thread(s) },
  "fork" => ->(s) { forked(s) },
  "depth20" => ->(s) { recurse(20, s) },
  "depth20c" => ->(s) { recurse_through_c(20, s) },
}
OTHERS = { "deep" => ->(s) { recurse(1000, s) } }

File.write(LOADED, "inner($step)\n")
(ARGV[2]&.split(",") || STEPS.keys).each { |step| (STEPS[step] || OTHERS[step]).call(step) }
File.delete(LOADED)
sleep 0.8 # Lines are read from the process.
