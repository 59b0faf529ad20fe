package mcpprocessor

// attribute is an attribute that this processor writes.
type attribute uint8

// The attributes; docs/attributes.md says when each is written.
const (
	attrLayer attribute = iota
	attrOutcome
	attrOutcomeClass
	attrOutcomeReason
	attrErrorCode
	attrMethodName
	attrToolName
	attrRequestID
	attrMessageCount
	attrRetryOrigin
	attrRetryEvidence
	attrRetryConfidence
	attrRetryAttempt
	attrReplaySafety
	attrContinuation
	attrPreviousTraceID
	attrPreviousSpanID

	attrProtocolVersion
	attrClientName
	attrClientVersion
	attrSessionID
	attrResourceURI
	attrPromptName
	attrOperationName
	attrResultType
	attrStreamEventCount
	attrStreamEnd
	attrStatusCode
	attrErrorType
	attrErrorMessage
	attrErrorData
	attributeCount
)

// attributeTable names the attributes and says which are written by default:
// few, since each costs more than reading a small body.
var attributeTable = [attributeCount]struct {
	name      string
	byDefault bool
}{
	attrLayer:            {"mcp.layer", true},
	attrOutcome:          {"mcp.outcome", true},
	attrOutcomeClass:     {"mcp.outcome_class", true},
	attrOutcomeReason:    {"mcp.outcome_reason", true},
	attrErrorCode:        {"jsonrpc.error.code", true},
	attrMethodName:       {"mcp.method.name", true},
	attrToolName:         {"gen_ai.tool.name", true},
	attrRequestID:        {"jsonrpc.request.id", true},
	attrMessageCount:     {"mcp.message_count", true},
	attrRetryOrigin:      {"mcp.retry_origin", true},
	attrRetryEvidence:    {"mcp.retry_evidence", true},
	attrRetryConfidence:  {"mcp.retry_confidence", true},
	attrRetryAttempt:     {"mcp.retry_attempt", true},
	attrReplaySafety:     {"mcp.replay_safety", true},
	attrContinuation:     {"mcp.continuation", true},
	attrPreviousTraceID:  {"mcp.retry_previous_trace_id", true},
	attrPreviousSpanID:   {"mcp.retry_previous_span_id", true},
	attrProtocolVersion:  {"mcp.protocol.version", false},
	attrClientName:       {"mcp.client.name", false},
	attrClientVersion:    {"mcp.client.version", false},
	attrSessionID:        {"mcp.session.id", false},
	attrResourceURI:      {"mcp.resource.uri", false},
	attrPromptName:       {"gen_ai.prompt.name", false},
	attrOperationName:    {"gen_ai.operation.name", false},
	attrResultType:       {"mcp.result_type", false},
	attrStreamEventCount: {"mcp.stream.event_count", false},
	attrStreamEnd:        {"mcp.stream.end", false},
	attrStatusCode:       {"rpc.response.status_code", false},
	attrErrorType:        {"error.type", false},
	attrErrorMessage:     {"jsonrpc.error.message", false},
	attrErrorData:        {"jsonrpc.error.data", false},
}

// isAttribute reports whether name is the name of an attribute.
func isAttribute(name string) bool {
	for a := range attributeCount {
		if attributeTable[a].name == name {
			return true
		}
	}
	return false
}

func attributeNames() []string {
	names := make([]string, attributeCount)
	for a := range attributeCount {
		names[a] = attributeTable[a].name
	}
	return names
}

// attributeSet is a set of attributes.
type attributeSet uint64

func (s attributeSet) has(a attribute) bool { return s&(1<<a) != 0 }

// enabledAttributes are those on by default with what the settings change.
func enabledAttributes(settings map[string]AttributeConfig) attributeSet {
	var s attributeSet
	for a := range attributeCount {
		enabled := attributeTable[a].byDefault
		if setting, ok := settings[attributeTable[a].name]; ok {
			enabled = setting.Enabled
		}
		if enabled {
			s |= 1 << a
		}
	}
	return s
}
