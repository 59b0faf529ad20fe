package verdict

// firstModern is the first revision without sessions and handshake.
const firstModern = "2026-07-28"

// recognised reports whether the exchange shows a sign of MCP (DESIGN 4.1).
func (j *Judge) recognised() bool {
	ex := j.ex
	switch {
	case ex.PathMatch, j.request.own, j.response.own:
		return true
	case ex.Header:
		return !ex.WellKnown && ex.Request.Media != MediaForm && !oauth(&ex.Request) && !oauth(&ex.Response)
	default:
		return j.response.shape && !j.request.read
	}
}

// assume notes what the headers say of a request whose body does not.
func (j *Judge) assume() {
	ex := j.ex
	a := call{method: ex.MethodHeader}
	if a.method == "" {
		a.method = ex.KnownMethod
	}
	a.methodID = MethodNamed(a.method)
	switch a.methodID {
	case ToolsCall:
		a.tool = ex.NameHeader
		if a.tool == "" {
			a.tool = ex.KnownTool
		}
	case PromptsGet:
		a.prompt = ex.NameHeader
	case ResourcesRead:
		a.uri = ex.NameHeader
	}
	j.assumed = a
}

// describe says what was called, as far as it is known.
func (j *Judge) describe() {
	v, ex := j.v, j.ex
	switch {
	case len(j.calls) == 1:
		j.name(&j.calls[0])
	case len(j.calls) > 1:
		j.nameBatch()
	case j.request.notifications > 0:
		j.name(&j.request.first)
	default:
		j.name(&j.assumed)
	}
	if !v.HasID && j.request.unknown && j.noted && j.response.responses == 1 {
		v.ID, v.HasID = j.worst.ID, j.worst.HasID
	}
	if v.ProtocolVersion == "" {
		v.ProtocolVersion = ex.ProtocolVersion
	}
}

// name makes c what the exchange called.
func (j *Judge) name(c *call) {
	v := j.v
	v.Method, v.MethodID = c.method, c.methodID
	v.Tool, v.Prompt, v.ResourceURI = c.tool, c.prompt, c.uri
	if c.method == "" && c != &j.assumed && j.assumed.method != "" {
		// A request that was cut before its method, or hides it.
		v.Method, v.MethodID, v.Tool = j.assumed.method, j.assumed.methodID, j.assumed.tool
	} else if c.tool == "" && c.methodID == ToolsCall && !c.complete {
		v.Tool = j.assumed.tool
	}
	v.ID, v.HasID = c.idText()
	if c.revision != "" {
		v.ProtocolVersion = c.revision
	}
	v.ClientName, v.ClientVersion = c.clientName, c.clientVersion
}

// nameBatch names what all requests of a batch have in common.
func (j *Judge) nameBatch() {
	first := &j.calls[0]
	for i := range j.calls {
		if j.calls[i].methodID != first.methodID || j.calls[i].method != first.method {
			return
		}
	}
	j.v.Method, j.v.MethodID = first.method, first.methodID
}

// modern reports whether the exchange is known to follow a revision from
// 2026-07-28 on. An unknown revision counts as an earlier one.
func (j *Judge) modern() bool {
	v, ex := j.v, j.ex
	if v.MethodID == Initialize {
		return false // removed in 2026-07-28
	}
	revision := v.ProtocolVersion
	if revision == "" {
		// Mcp-Method came with 2026-07-28 (streamable-http, Standard Headers).
		return ex.MethodHeader != ""
	}
	return isDate(revision) && revision >= firstModern
}

// isDate reports whether s has the form of a revision, YYYY-MM-DD.
func isDate(s string) bool {
	if len(s) != len(firstModern) {
		return false
	}
	for i := range len(s) {
		if isDash := i == 4 || i == 7; isDash != (s[i] == '-') || !isDash && (s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return true
}

// toolErrorType is the error.type of a tool's own error (semantic conventions
// for MCP).
const toolErrorType = "tool_error"

// instrumented judges the span of an MCP instrumentation, which has no bodies,
// by what it says in its attributes, and reports whether it did.
func (j *Judge) instrumented() bool {
	ex, v := j.ex, j.v
	if ex.KnownMethod == "" || ex.Log || ex.Request.Capture != Absent || ex.Response.Capture != Absent {
		return false
	}
	j.assume()
	errorType := ex.ErrorType
	switch {
	case errorType == toolErrorType || ex.IsError:
		j.set(ToolError, NoReason)
	case ex.HasCode && (ex.KnownCode != 0 || ex.Failure != NotFailed):
		o := JSONRPCError
		if ex.KnownCode == codeURLElicitationRequired {
			o = InputRequired
		}
		j.set(o, codeReason(ex.KnownCode))
		v.Code, v.HasCode = ex.KnownCode, true
	case ex.IsNoError:
		j.set(ToolSuccess, NoReason)
	case len(errorType) == 3 && isStatus(errorType):
		j.set(HTTPError, NoReason)
	case ex.HTTP && (ex.Status != 0 || ex.Header):
		// An HTTP span with more to say than an attribute that may be copied.
		return false
	default:
		j.set(Undetermined, NoErrorRecorded)
	}
	v.MCP = true
	j.name(&j.assumed)
	if v.ProtocolVersion == "" {
		v.ProtocolVersion = ex.ProtocolVersion
	}
	return true
}

// isStatus reports whether s is an HTTP status outside 2xx in three digits.
func isStatus(s string) bool {
	return s[0] >= '3' && s[0] <= '5' && s[1] >= '0' && s[1] <= '9' && s[2] >= '0' && s[2] <= '9'
}
