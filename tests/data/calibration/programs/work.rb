# SPDX-License-Identifier: GPL-3.0-or-later
# What the services in Ruby do for a request.
require "erb"
require "json"

module Work
  ORDERS = (0...80).map { |i| { "id" => i, "name" => "order #{i * 7919 % 503} of customer #{i % 9}", "price" => i * 1.25 } }
  TEXT = JSON.generate(ORDERS)
  PAGE = ERB.new("<% orders.each do |order| %><tr><td><%= order['id'] %></td><td><%= ERB::Util.h(order['name']) %></td></tr><% end %>")

  def self.render
    orders = ORDERS
    PAGE.result(binding)
  end

  def self.parse
    sums = Hash.new(0)
    JSON.parse(TEXT).each { |order| order["name"].split.each { |word| sums[word] += order["price"] } }
    JSON.generate(sums)
  end

  def self.rank
    ORDERS.sort_by { |order| [order["name"], -order["price"]] }.map { |order| format("%05d %s", order["id"], order["name"].upcase) }.join("\n")
  end

  def self.match
    ORDERS.count { |order| order["name"] =~ /order (\d+)7 of customer (\d)/ }.to_s
  end

  def self.answer(path)
    case path
    when "/render" then render
    when "/parse" then parse
    when "/rank" then rank
    else match
    end
  end
end
