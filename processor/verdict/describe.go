package verdict

// firstModern is the first revision without sessions and handshake.
const firstModern = "2026-07-28"

// recognised reports whether the exchange shows a sign of MCP. The signs
// are listed in docs/attributes.md, What is read.
func (j *Judge) recognised() bool {
	ex := j.ex
	switch {
	case ex.LogPrefix, j.request.own, j.response.own:
		return true
	case ex.Header, ex.PathMatch:
		// Clients carry the headers to authorization servers as well.
		return !ex.WellKnown && ex.Request.Media != MediaForm && !oauth(&ex.Request) && !oauth(&ex.Response)
	case len(j.asked) > 0, j.settings.InstrumentedSpans && ex.KnownMethod != "" && ex.KnownID && !ex.Log:
		return true
	default:
		return j.response.shape && (!j.request.read || j.answersOwn())
	}
}

// signSeen reports whether the shape of the result is not needed to recognise the
// exchange: to look at it is to read a part of the body again.
func (j *Judge) signSeen() bool {
	ex := j.ex
	return ex.LogPrefix || j.request.own || ex.Header || ex.PathMatch
}

// answersOwn reports whether requests of MCP's own methods were answered by
// their ids. That tells as much as the member jsonrpc where a recorder left
// that out of the request.
func (j *Judge) answersOwn() bool {
	for i := range j.calls {
		if j.calls[i].methodID == OtherMethod || !j.calls[i].answered {
			return false
		}
	}
	return len(j.calls) > 0
}

// assume notes what the headers say of a request whose body does not.
func (j *Judge) assume() {
	ex, a := j.ex, &j.assumed
	if a.method != "" {
		*a = call{}
	}
	if a.method = ex.MethodHeader; a.method == "" {
		a.method = ex.KnownMethod
	}
	if a.method == "" {
		return
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
}

// describe says what was called, as far as it is known.
func (j *Judge) describe() {
	v, ex := j.v, j.ex
	switch {
	case len(j.calls) == 1:
		j.name(&j.calls[0])
	case len(j.calls) > 1:
		j.nameBatch()
	case len(j.asked) == 1 && j.response.responses == 1:
		j.name(&j.asked[0])
	case j.request.notifications > 0:
		j.name(&j.request.first)
	default:
		j.name(&j.assumed)
	}
	if !v.HasID && j.request.unknown && j.worst != nil && j.response.responses == 1 {
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

// IsModern reports whether revision is one without sessions: 2026-07-28 or a
// later one.
func IsModern(revision string) bool { return isDate(revision) && revision >= firstModern }

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
	return IsModern(revision)
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
