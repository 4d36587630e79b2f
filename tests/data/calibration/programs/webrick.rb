# SPDX-License-Identifier: GPL-3.0-or-later
# A service of WEBrick: webrick.rb PORT.
require "webrick"
require_relative "work"

server = WEBrick::HTTPServer.new(BindAddress: "127.0.0.1", Port: ARGV[0].to_i, AccessLog: [], Logger: WEBrick::Log.new(File::NULL),
                                 AcceptCallback: ->(socket) { socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1) })
server.mount_proc("/") { |request, response| response.body = Work.answer(request.path) }
trap("TERM") { server.shutdown }
server.start
