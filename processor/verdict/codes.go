package verdict

// The JSON-RPC error codes that a rule names: JSON-RPC 2.0 section 5.1, MCP
// 2025-11-25 (URL elicitation) and MCP 2026-07-28 basic, Error Codes.
const (
	codeParseError                      = -32700
	codeInvalidRequest                  = -32600
	codeMethodNotFound                  = -32601
	codeInvalidParams                   = -32602
	codeInternalError                   = -32603
	codeResourceNotFound                = -32002
	codeHeaderMismatch                  = -32020
	codeMissingRequiredClientCapability = -32021
	codeUnsupportedProtocolVersion      = -32022
	codeURLElicitationRequired          = -32042
	codeRequestCancelled                = -32800
)

// codeReason names the codes that have a meaning of their own. No other code
// may be given one: MCP 2026-07-28 basic forbids to assume any in
// -32000..-32019 except for -32002.
func codeReason(code int64) Reason {
	switch code {
	case codeParseError:
		return ParseError
	case codeInvalidRequest:
		return InvalidRequest
	case codeMethodNotFound:
		return MethodNotFound
	case codeInvalidParams:
		return InvalidParams
	case codeInternalError:
		return InternalError
	case codeResourceNotFound:
		return ResourceNotFound
	case codeHeaderMismatch:
		return HeaderMismatch
	case codeMissingRequiredClientCapability:
		return MissingRequiredClientCapability
	case codeUnsupportedProtocolVersion:
		return UnsupportedProtocolVersion
	case codeURLElicitationRequired:
		return URLElicitationRequired
	case codeRequestCancelled:
		return RequestCancelled
	default:
		return NoReason
	}
}

// implementationDefined reports whether code lies in -32000..-32019, which
// SDKs use for what their transport refuses (no session, wrong media type).
func implementationDefined(code int64) bool { return -32019 <= code && code <= -32000 }

// requestUnreadable reports whether code says that the server could not read
// the request, so that it cannot know its id (JSON-RPC 2.0 section 5).
func requestUnreadable(code int64) bool {
	return code == codeParseError || code == codeInvalidRequest
}

// modernTransportCode reports whether code is one that MCP 2026-07-28 ties to
// HTTP 400 (streamable-http, Server Validation and Protocol Version).
func modernTransportCode(code int64) bool {
	return codeUnsupportedProtocolVersion <= code && code <= codeHeaderMismatch
}

// ClientFault reports whether code blames the caller, which the semantic
// conventions do not count as an error of a SERVER span (semantic-conventions-
// genai, MCP, rpc.response.status_code).
func ClientFault(code int64) bool {
	switch code {
	case codeParseError, codeInvalidRequest, codeMethodNotFound, codeInvalidParams, codeResourceNotFound:
		return true
	default:
		return false
	}
}
