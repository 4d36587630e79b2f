# SPDX-License-Identifier: GPL-3.0-or-later
# Checks a document against docs/diff.schema.json: jq -n --slurpfile s SCHEMA --slurpfile d DOCUMENT -f schema.jq prints what is wrong,
# one line each. Knows the words of JSON Schema 2020-12 that the schema uses, and names any other one as an error. With it, members of the
# document that the schema does not speak of are named too: the schema is to describe all of them.
def types: if type == "number" and . == floor then ["number", "integer"] else [type] end;
def known: ["$schema", "$defs", "title", "type", "properties", "required", "items", "enum", "const", "$ref", "oneOf", "minItems", "maxItems",
	"additionalProperties", "propertyNames", "minimum"];
def check($root; $schema; $at):
	. as $value
	| if $schema == true then empty
	elif $schema["$ref"] then check($root; $root["$defs"][$schema["$ref"] | ltrimstr("#/$defs/")]; $at)
	else
		(($schema | keys) - known | .[] | "\($at): the schema's word \(.) is not known here"),
		(if $schema | has("const") then select($value != $schema.const) | "\($at): is not \($schema.const)" else empty end),
		(if $schema.enum then select($schema.enum | index([$value]) | not) | "\($at): \($value) is none of \($schema.enum)" else empty end),
		(if $schema | has("minimum") then select(type == "number" and . < $schema.minimum) | "\($at): \(.) is less than \($schema.minimum)" else empty end),
		(if $schema.type then select(([$schema.type] | flatten) - types | length == ([$schema.type] | flatten | length))
			| "\($at): \(type) where \($schema.type) belongs" else empty end),
		(if $schema.oneOf then ([$schema.oneOf[] as $one | [$value | check($root; $one; $at)] | select(length == 0)] | length) as $fit
			| select($fit != 1) | "\($at): fits \($fit) of oneOf" else empty end),
		(if type == "array" then
			(select($schema.minItems and length < $schema.minItems) | "\($at): too few items"),
			(select($schema.maxItems and length > $schema.maxItems) | "\($at): too many items"),
			(if $schema.items then to_entries[] | .key as $i | .value | check($root; $schema.items; "\($at)[\($i)]") else empty end)
		elif type == "object" then
			(($schema.required // [])[] as $name | select(has($name) | not) | "\($at): lacks \($name)"),
			(if $schema.propertyNames then keys[] | check($root; $schema.propertyNames; "\($at): the name \(.)") else empty end),
			(to_entries[] | .key as $key | .value
				| if $schema.properties | has($key)? then check($root; $schema.properties[$key]; "\($at).\($key)")
				elif ($schema.additionalProperties | type) == "object" then check($root; $schema.additionalProperties; "\($at).\($key)")
				elif $schema.properties then "\($at): \($key) is not in the schema" else empty end)
		else empty end)
	end;
$s[0] as $schema | $d[0] | check($schema; $schema; "$")
