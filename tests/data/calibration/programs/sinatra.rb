# SPDX-License-Identifier: GPL-3.0-or-later
# A service of Sinatra below puma: sinatra.rb PORT.
require "sinatra/base"
require "puma"
require "rack/handler/puma"
require_relative "work"

class Service < Sinatra::Base
  set :logging, false
  set :protection, except: :host_authorization
  get("/orders") do
    content_type :json
    JSON.generate(Work::ORDERS)
  end
  get("/*") { Work.answer(request.path) }
end

Rack::Handler::Puma.run(Service, Host: "127.0.0.1", Port: ARGV[0].to_i, Threads: "0:4", Silent: true)
