package carrier

// field is what an attribute tells of an exchange.
type field uint8

const (
	requestBody field = iota
	responseBody
	requestCut     // the companion <body>.truncated: true
	responseCut    //
	requestBase64  // the companion <body>.base64: true, or the body itself
	responseBase64 //
	requestCoding  // the companion <body>.encoding
	responseCoding //
	fragment       // the result of a tool call without its envelope
	message        // of a log record: a JSON-RPC message
	requestSize
	responseSize
	requestLength // the header content-length
	responseLength
	requestType // the header content-type
	responseType
	requestEncoding // the header content-encoding
	responseEncoding

	httpMethod
	urlFull
	urlPath
	urlTarget // path and query
	urlQuery
	urlScheme
	serverAddress
	serverPort
	status

	sessionHeader
	versionHeader
	methodHeader
	nameHeader
	lastEventID
	challenge

	errorType
	exceptionType
	exceptionMessage

	knownMethod
	rpcMethod
	knownTool
	knownID
	knownVersion
	knownSession
	knownCode
	knownIsError

	toolCall
	conversation
	idempotencyKey
	resendCount
	clientCounter
	gatewayCounter
	retryOrigin
	retryOther // the rest of that group of attributes

	logFile
	logThread
	logLogger

	fieldCount

	outcome      // mcp.outcome
	outcomeClass // mcp.outcome_class
	outcomeOther // the rest of that group of attributes
)

// The fields from firstOfMore to lastOfMore are those that few items have.
const (
	firstOfMore = sessionHeader
	lastOfMore  = knownIsError
)

// name is one row of the look-up table: the attribute called name tells field.
// Of several names for one field the one with the lowest rank counts.
type name struct {
	name  string
	field field
	rank  uint8
}

// The names of attributes, new and old (OpenTelemetry semantic conventions,
// HTTP and MCP). Names are compared without case and with '-' equal to '_',
// since instrumentations differ in how they spell header names.
var names = []name{
	{"http.request.method", httpMethod, 0},
	{"http.method", httpMethod, 1},
	{"url.full", urlFull, 0},
	{"http.url", urlFull, 1},
	{"url.path", urlPath, 0},
	{"http.path", urlPath, 1},
	{"http.target", urlTarget, 0},
	{"url.query", urlQuery, 0},
	{"http.response.status_code", status, 0},
	{"http.status_code", status, 1},
	{"http.status", status, 2},
	{"http.request.body.size", requestSize, 0},
	{"http.request_content_length", requestSize, 1},
	{"http.response.body.size", responseSize, 0},
	{"http.response_content_length", responseSize, 1},
	{"http.request.header.content-length", requestLength, 0},
	{"http.response.header.content-length", responseLength, 0},
	{"http.request.header.content-type", requestType, 0},
	{"http.response.header.content-type", responseType, 0},
	{"http.request.header.content-encoding", requestEncoding, 0},
	{"http.response.header.content-encoding", responseEncoding, 0},
	{"http.request.header.mcp-session-id", sessionHeader, 0},
	{"http.response.header.mcp-session-id", sessionHeader, 1},
	{"mcp.session.id", knownSession, 0},
	{"mcp.session_id", knownSession, 1},
	{"http.request.header.mcp-protocol-version", versionHeader, 0},
	{"http.response.header.mcp-protocol-version", versionHeader, 1},
	{"http.request.header.mcp-method", methodHeader, 0},
	{"http.response.header.mcp-method", methodHeader, 1},
	{"http.request.header.mcp-name", nameHeader, 0},
	{"http.response.header.mcp-name", nameHeader, 1},
	{"http.request.header.last-event-id", lastEventID, 0},
	{"http.response.header.www-authenticate", challenge, 0},
	{"error.type", errorType, 0},
	{"exception.type", exceptionType, 0},
	{"exception.message", exceptionMessage, 0},
	{"mcp.method.name", knownMethod, 0},
	{"rpc.method", rpcMethod, 0},
	{"gen_ai.tool.name", knownTool, 0},
	{"mcp.tool.name", knownTool, 1},
	{"jsonrpc.request.id", knownID, 0},
	{"mcp.request.id", knownID, 1},
	{"mcp.protocol.version", knownVersion, 0},
	{"jsonrpc.error.code", knownCode, 0},
	{"rpc.response.status_code", knownCode, 1},
	{"rpc.status_code", knownCode, 2},
	{"rpc.jsonrpc.error_code", knownCode, 3},
	{"mcp.error.code", knownCode, 4},
	{"mcp.tool.result.is_error", knownIsError, 0},
	{"url.scheme", urlScheme, 0},
	{"http.scheme", urlScheme, 1},
	{"server.address", serverAddress, 0},
	{"net.peer.name", serverAddress, 1},
	{"server.port", serverPort, 0},
	{"net.peer.port", serverPort, 1},
	{"gen_ai.tool.call.id", toolCall, 0},
	{"gen_ai.conversation.id", conversation, 0},
	{"http.request.header.idempotency-key", idempotencyKey, 0},
	{"http.request.header.x-idempotency-key", idempotencyKey, 1},
	{"http.request.resend_count", resendCount, 0},
	{"http.resend_count", resendCount, 1},
	{"http.retry_count", resendCount, 2},
	{"mcp.retry_origin", retryOrigin, 0},
	{"mcp.retry.origin", retryOrigin, 1},
	{"retryOrigin", retryOrigin, 2},
	{"mcp.retry_evidence", retryOther, 0},
	{"mcp.retry_confidence", retryOther, 0},
	{"mcp.outcome", outcome, 0},
	{"mcp.outcome_class", outcomeClass, 0},
	{"mcp.layer", outcomeOther, 0},
	{"mcp.outcome_reason", outcomeOther, 0},
}

// The headers and attributes that count attempts, by who counts. What the
// numbers mean is for package retry to say.
var (
	clientCounters = []string{
		"http.request.header.retry-attempt", "http.request.header.x-stainless-retry-count",
		"http.request.header.amz-sdk-request", "http.request.header.grpc-previous-rpc-attempts",
	}
	gatewayCounters = []string{
		"http.request.header.x-envoy-attempt-count", "http.request.header.x-envoy-is-timeout-retry",
		"http.request.header.x-retry-attempt", "retry.attempt", "retry.count",
	}
)

// logNames are the names that are looked up on log records only: the stream
// that a record belongs to, and attributes that hold a whole JSON-RPC message.
var logNames = []name{
	{"log.file.path", logFile, 0},
	{"log.file.name", logFile, 1},
	{"thread.id", logThread, 0},
	{"thread.name", logThread, 1},
	{"logger.name", logLogger, 0},
	{"logger", logLogger, 1},
}

// The attributes that hold bodies, in the order in which they are tried.
var (
	// DefaultRequestAttributes are the attributes that may hold a request body:
	// the HTTP semantic conventions (OBI and Beyla, Akka, ECS), Hypertrace, the
	// MCP endpoints of Akka, Elastic APM, Azure API Management.
	DefaultRequestAttributes = []string{
		"http.request.body.content", "http.request.body", "mcp.request.content", "http.request.body.original", "Request-Body",
	}
	// DefaultResponseAttributes are the attributes that may hold a response body.
	DefaultResponseAttributes = []string{
		"http.response.body.content", "http.response.body", "mcp.response.content", "Response-Body",
	}
	// DefaultMessageAttributes are the attributes of log records that may hold
	// JSON-RPC messages: the C# SDK, FastMCP, and what log processors keep of the
	// original record.
	DefaultMessageAttributes = []string{
		"Message", "Request", "payload", "event.data", "log.record.original",
	}
)

// ranked returns the names in list for f, the first of which counts most.
func ranked(list []string, f field) []name {
	names := make([]name, len(list))
	for i, n := range list {
		names[i] = name{n, f, uint8(min(i, 255))}
	}
	return names
}

// table finds names. It hashes by length and two bytes only, since most
// attributes of most spans are to be passed over.
type table struct {
	buckets [256][]name
}

func newTable(lists ...[]name) *table {
	t := &table{}
	for _, list := range lists {
		for _, n := range list {
			if t.find(n.name) == nil {
				h := hash(n.name)
				t.buckets[h] = append(t.buckets[h], n)
			}
		}
	}
	return t
}

// find returns the row of key, nil if there is none. It is not to be changed.
func (t *table) find(key string) *name {
	if key == "" {
		return nil
	}
	bucket := t.buckets[hash(key)]
	for i := range bucket {
		if n := &bucket[i]; n.name == key || sameFolded(n.name, key) {
			return n
		}
	}
	return nil
}

// hash hashes the length and two bytes of key, which is not empty. Of these it
// takes the bits that are the same in all spellings: in upper and lower case, and
// in '-' and '_'.
func hash(key string) uint8 {
	const same = 0x0d
	n := len(key)
	return uint8(n) ^ key[n-1]&same<<4 ^ key[n/2]&same<<2
}

// sameFolded reports whether a and b differ in their spelling only.
func sameFolded(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if fold(a[i]) != fold(b[i]) {
			return false
		}
	}
	return true
}

// Fold returns key in the one spelling in which keys are compared.
func Fold(key string) string {
	b := []byte(key)
	for i, c := range b {
		b[i] = fold(c)
	}
	return string(b)
}

// fold maps the spellings of a byte of a name to one.
func fold(c byte) byte {
	switch {
	case 'A' <= c && c <= 'Z':
		return c + 'a' - 'A'
	case c == '_':
		return '-'
	default:
		return c
	}
}
