package setup_test

// jsonTexts are configurations as people have them; SERVERS stands for the name of the block.
var jsonTexts = map[string]string{
	"empty":             "",
	"blank":             "\n",
	"empty object":      "{}",
	"object of lines":   "{\n}\n",
	"one line":          `{"theme":"dark","SERVERS":{"a":{"command":"x"}}}`,
	"no block":          "{\n  \"theme\": \"dark\",\n  \"n\": 12345678901234567890\n}\n",
	"empty block":       "{\n    \"SERVERS\": {},\n    \"z\": [1, 2]\n}",
	"others":            "{\n\t\"SERVERS\": {\n\t\t\"a\": {\"command\": \"x\"}\n\t},\n\t\"z\": null\n}\n",
	"Windows":           "{\r\n  \"SERVERS\": {\r\n    \"a\": {}\r\n  }\r\n}\r\n",
	"byte order mark":   "\ufeff{\n  \"z\": 1\n}\n",
	"no final newline":  "{\n  \"z\": 1}",
	"other languages":   "{\n  \"主题\": \"暗い\",\n  \"emoji\": \"\\ud83d\\ude00 <&>\"\n}\n",
	"strange names":     "{\n  \"a\\\"b\": {\"SERVERS\": {\"kioku\": 1}},\n  \"kioku\": 2\n}\n",
	"strange spacing":   "  { \"z\" :1 ,\n\n\"SERVERS\" : {\n \"a\":{ } }\n ,\"y\":2}  ",
	"block that is old": "{\"SERVERS\": {\n  \"kioku\": {\"command\": \"/old/kioku\", \"args\": [\"mcp\", \"--workspace\", \"/n\"], \"env\": {\"A\": \"1\"}, \"type\": \"stdio\"}\n}}\n",
}

// commentedTexts are configurations with comments and trailing commas.
var commentedTexts = map[string]string{
	"comments":        "// mine\n{\n  // servers\n  \"SERVERS\": { // all of them\n    \"a\": {} // the first\n    /* end */\n  } // of SERVERS\n}\n// bye\n",
	"trailing commas": "{\n  \"SERVERS\": {\n    \"a\": {}, // the first\n  },\n}\n",
	"one line":        "{\"SERVERS\": {\"a\": {},},}",
	"only a comment":  "{\n  // nothing yet\n}\n",
	"tight":           "{/*a*/\"SERVERS\"/*b*/:/*c*/{/*d*/}/*e*/}",
}

// tomlTexts are configurations of Codex.
var tomlTexts = map[string]string{
	"empty":           "",
	"settings":        "# mine\nmodel = \"o3\" # the model\n\n[profiles.a]\nx = 1\n",
	"others":          "[mcp_servers.a]\ncommand = \"x\"\n\n[mcp_servers.a.env]\nA = \"[mcp_servers.kioku]\"\n",
	"Windows":         "model = \"o3\"\r\n[a]\r\nb = 1\r\n",
	"no newline":      "model = \"o3\"",
	"byte order mark": "\ufeff[a]\nb = 1\n",
	"texts of lines":  "a = \"\"\"\n[mcp_servers.kioku]\ncommand = \"x\"\n\"\"\"\nb = [\n  \"]\", # ]\n  '[mcp_servers.kioku]',\n]\n[[c]]\nd = '''\n[x]'''\n",
	"an old entry":    "[mcp_servers.kioku]\nstartup_timeout_sec = 20 # slow disk\ncommand = \"/old/kioku\"\nargs = [\n  \"mcp\", # server\n  \"--workspace\", \"/n\",\n]\n# the end\n\n[z]\ny = 1979-05-27T07:32:00Z\n",
	"comments after":  "[a]\nb = 1\n\n# [mcp_servers.kioku]\n# the end\n\n",
}
