package carrier

import (
	"strconv"
	"strings"

	"github.com/otel-mcp/mcpprocessor/processor/jsonrpc"
)

// LogPath names the members of a structured log body that hold the two sides
// of an exchange, as dotted paths. A path matches nested members and members
// whose names have the dots in them; [*] behind a name means each element of an
// array. A path without Response holds messages of either side.
type LogPath struct {
	Request, Response string
}

// DefaultLogPaths are the members in which products keep bodies, the first that
// holds a JSON-RPC message counts: the HTTP semantic conventions, APISIX, HAR,
// ToolHive, the MCP Inspector, AgentCore, Kong, MCPSpy, and names that are used
// everywhere.
var DefaultLogPaths = []LogPath{
	{"http.request.body.content", "http.response.body.content"},
	{"http.request.body", "http.response.body"},
	{"mcp.request.content", "mcp.response.content"},
	{"request.body", "response.body"},
	{"request.postData.text", "response.content.text"},
	{"data.request", "data.response"},
	{"requestBody", "responseBody"},
	{"body.requestBody", "body.responseBody"},
	{"ai.mcp.rpc[*].payload.request", "ai.mcp.rpc[*].payload.response"},
	{"request", "response"},
	{"request", "raw"},
	{"message", "response"},
	{"message", ""},
	{"payload", ""},
	{"msg", ""},
	{"log", ""},
	{"event.data", ""},
	{"data", ""},
	{"raw", ""},
	{"body", ""},
}

// findMembers looks for the sides of an exchange among the members of the JSON
// object text.
func (c *Carrier) findMembers(it *Item, text string) bool {
	root := c.tree(text)
	for i := range c.config.LogPaths {
		// Two messages that belong together say more than one with a name that
		// may mean anything.
		p := &c.config.LogPaths[i]
		request, response := root.find(p.Request), ""
		if p.Response != "" {
			response = root.find(p.Response)
		}
		if strings.Contains(request, sweepWord) && strings.Contains(response, sweepWord) {
			it.foundSides(root, p, request, response)
			return true
		}
	}
	for i := range c.config.LogPaths {
		p := &c.config.LogPaths[i]
		request := root.find(p.Request)
		if p.Response == "" {
			if request != "" && strings.Contains(request, sweepWord) && it.findMemberText(request, c) {
				it.Text.Members = [2]string{p.Request}
				return true
			}
			continue
		}
		response := root.find(p.Response)
		if request == "" && response == "" || !strings.Contains(request, sweepWord) && !strings.Contains(response, sweepWord) {
			continue
		}
		if _, kind := jsonrpc.Lookup(plainText(response), "method"); request == "" && kind != jsonrpc.Absent {
			// The member for responses holds a request.
			it.found.messages = plainText(response)
			it.Text.Members = [2]string{p.Response}
			return true
		}
		it.foundSides(root, p, request, response)
		return true
	}
	return false
}

// foundSides notes the two sides of an exchange, and where they were.
func (it *Item) foundSides(wrapper *node, p *LogPath, request, response string) {
	it.found.request, it.found.response, it.found.wrapper, it.found.both = request, response, wrapper, true
	it.Text.Members = [2]string{p.Request, p.Response}
}

// findMemberText finds messages in a member that may be of either side: an
// object, or a string with messages in it.
func (it *Item) findMemberText(raw string, c *Carrier) bool {
	if !strings.HasPrefix(raw, `"`) {
		it.found.messages = raw
		return isMessage(raw)
	}
	text := jsonrpc.DecodeString(raw)
	if f, ok := jsonrpc.Sniff(text); ok && (f == jsonrpc.EventStream || isMessage(text)) {
		it.found.messages = text
		return true
	}
	return it.findLine(text, false, c)
}

// The members in which structured logs keep what else is known of an exchange.
// Their names are too common to be looked at before a record has shown that it
// is of MCP.
var (
	statusPaths  = []string{"http.response.status_code", "response.status", "response.statusCode", "response.status_code", "responseStatus", "response_code", "status_code", "statusCode", "status", "DownstreamStatus", "OriginStatus"}
	methodPaths  = []string{"http.request.method", "request.method", "requestMethod", "method", "RequestMethod", "target.method"}
	urlPaths     = []string{"url.full", "request.url", "request.uri", "url", "path", "RequestPath", "x-envoy-origin-path"}
	sessionPaths = []string{"request.headers.mcp-session-id", "request.headers.Mcp-Session-Id", "requestHeaders.mcp-session-id", "response.headers.mcp-session-id", "responseHeaders.mcp-session-id", "mcp_session_id", "mcp.session.id", "ai.mcp.mcp_session_id"}
	headerPaths  = []string{"request.headers", "response.headers"}
	versionPaths = []string{"request.headers.mcp-protocol-version", "request.headers.Mcp-Protocol-Version", "requestHeaders.mcp-protocol-version"}
)

// harStatus is 0 in a HAR entry whose request failed.
const harStatus = "response.status"

// describeWrapper reads what the object around the bodies says of the exchange.
func (it *Item) describeWrapper(wrapper *node) {
	ex := &it.Exchange
	if ex.Status == 0 {
		for _, p := range statusPaths {
			n, err := strconv.Atoi(plainText(wrapper.find(p)))
			if err == nil && 100 <= n && n < 1000 {
				ex.Status, ex.HTTP = n, true
				break
			}
			if err == nil && n == 0 && p == harStatus {
				// HAR 1.2: no response came.
				ex.HTTP, it.noStatus = true, true
				break
			}
		}
	}
	if ex.HTTPMethod == "" {
		for _, p := range methodPaths {
			if m := plainText(wrapper.find(p)); isHTTPMethod(m) {
				ex.HTTPMethod, ex.HTTP = m, true
				break
			}
		}
	}
	for _, p := range urlPaths {
		if u := plainText(wrapper.find(p)); u != "" {
			path, query := splitURL(u)
			ex.WellKnown = strings.Contains(path, "/.well-known/")
			it.querySession, ex.SessionQuery = sessionOf(query)
			break
		}
	}
	for _, p := range sessionPaths {
		if s := plainText(wrapper.find(p)); s != "" && s != "null" {
			ex.SessionID, it.Session = s, s
			break
		}
	}
	for _, p := range versionPaths {
		if s := plainText(wrapper.find(p)); s != "" {
			ex.ProtocolVersion = s
			break
		}
	}
	it.harHeaders(wrapper)
}

// harHeaders reads the headers of a HAR entry, an array of names and values.
func (it *Item) harHeaders(wrapper *node) {
	ex := &it.Exchange
	for _, side := range headerPaths {
		headers := wrapper.find(side)
		if !strings.HasPrefix(headers, "[") {
			continue
		}
		jsonrpc.Elements(headers, func(header string) bool {
			value := plainText(directMember(header, "value"))
			switch strings.ToLower(plainText(directMember(header, "name"))) {
			case "mcp-session-id":
				ex.Header, ex.SessionID, it.Session = true, value, value
			case "mcp-protocol-version":
				ex.Header, ex.ProtocolVersion = true, value
			case "mcp-method":
				ex.Header, ex.MethodHeader = true, value
			case "mcp-name":
				ex.Header, ex.NameHeader = true, headerText(value)
			case "last-event-id":
				ex.LastEventID = true
			case "www-authenticate":
				ex.Challenge = true
			case "content-type":
				if side == "response.headers" {
					ex.Response.Media = mediaType(value)
				} else {
					ex.Request.Media = mediaType(value)
				}
			}
			return true
		})
	}
}

func directMember(object, name string) string {
	value, _ := jsonrpc.Lookup(object, name)
	return value
}

// plainText returns a JSON string as its text and any other value as it is.
func plainText(raw string) string {
	if strings.HasPrefix(raw, `"`) {
		return jsonrpc.DecodeString(raw)
	}
	return raw
}

func isHTTPMethod(m string) bool {
	switch m {
	case "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH":
		return true
	default:
		return false
	}
}
