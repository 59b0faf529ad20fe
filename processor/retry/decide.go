package retry

import "github.com/otel-mcp/mcpprocessor/processor/verdict"

// decision is what an attempt is found to be, and what that rests on.
type decision struct {
	origin       Origin
	evidence     Evidence
	continuation Continuation
	safety       Safety
	attempt      int
	// previous is what was seen before; repeats: it is what was sent again, and
	// not what the attempt goes on with.
	previous sight
	repeats  bool
}

// emptyGap is how soon a call without arguments must be repeated for the repeat
// to be taken for one, in nanoseconds: such calls are equal by chance.
const emptyGap = 10e9

// decide finds out what n, which is what is remembered of a, is in the light of
// what was seen.
func (t *Tracker) decide(a *Attempt, n *record, seen *sightings) decision {
	d := t.rows(a, n, seen)
	if n.has(flagContinues) {
		d.continuation = WithInput
	}
	if a.Asserted != NoOrigin {
		// The word of who knows better stands; a predecessor that was seen adds
		// to it.
		if d.origin == NoOrigin {
			d.attempt = max(1, a.GatewayResends, a.ClientResends, a.ResendCount)
		}
		d.origin, d.evidence = a.Asserted, Explicit
	}
	if d.origin == NoOrigin {
		return d
	}
	var p *record
	if d.repeats {
		p = d.previous.record
		if d.evidence != AttemptHeader {
			d.attempt = int(p.attempt) + 1
		}
	}
	d.safety = t.safety(a, n, p)
	return d
}

// rows is the table: the first row that fits counts.
func (t *Tracker) rows(a *Attempt, n *record, seen *sightings) decision {
	message := seen.message.resent()
	again := message
	if again.record == nil {
		// Only enough where a sender says that n was sent again.
		again = seen.traced.resent()
	}
	switch {
	case message.record != nil && message.record.redirects(n):
		return decision{evidence: Redirected}

	// A header states what it states. The predecessor it tells of may not have
	// been seen.
	case a.GatewayResends > 0:
		return repeat(Gateway, AttemptHeader, again).stating(a.GatewayResends)
	case a.ClientResends > 0:
		return repeat(SDK, AttemptHeader, again).stating(a.ClientResends)

	case message.record != nil:
		return repeat(resender(a, message.record), messageEvidence(a, seen), message)
	}
	if lost := t.reopened(a, n, seen); lost.record != nil {
		return repeat(resender(a, lost.record), SameMessageReinit, lost)
	}
	if a.ResendCount > 0 {
		switch {
		case again.record == nil:
			// It counts redirects and authorization as well (semantic
			// conventions, http.request.resend_count).
			return repeat(UnknownOrigin, ResendCount, sight{}).stating(a.ResendCount)
		case again.record.redirects(n):
			return decision{evidence: Redirected}
		}
		return repeat(resender(a, again.record), ResendCount, again)
	}
	switch {
	case n.has(flagContinues):
		return t.continued(a, n, seen)
	case !a.Whole || n.op == 0:
		return decision{evidence: NotEvaluated}
	case seen.overlaps:
		// Parallel identical calls, also when an agent sends each twice.
		return decision{evidence: Concurrent}
	default:
		return t.calledAgain(a, n, seen)
	}
}

// repeat says that p was sent again, nil if it was not seen.
func repeat(o Origin, e Evidence, p sight) decision {
	return decision{origin: o, evidence: e, previous: p, repeats: p.record != nil}
}

// stating adds how often a sender says it was sent again.
func (d decision) stating(resends int) decision {
	d.attempt = resends
	return d
}

// redirects reports whether n follows a redirection by r (RFC 9110 section
// 15.4). That is no retry.
func (r *record) redirects(n *record) bool { return r.has(flagRedirected) && r.end <= n.start }

// resender is who sent p again, as far as the vantage tells.
func resender(a *Attempt, p *record) Origin {
	switch {
	case a.Side == verdict.Server:
		// A server cannot tell a client from what stands between.
		return UnknownOrigin
	case p.has(flagUnauthorized):
		// Authorization is the client's, also that of a gateway towards what is
		// behind it (MCP, Authorization: retry with the new token).
		return SDK
	case a.Intermediary:
		return Gateway
	default:
		return SDK
	}
}

// messageEvidence names what ties a to the message that was seen.
func messageEvidence(a *Attempt, seen *sightings) Evidence {
	if a.Side == verdict.Server && seen.evidence == SameMessageParent {
		return SameMessageBelowClient
	}
	return seen.evidence
}

// reopened returns the message that n is, if its session was not found and the
// session of n was opened since.
func (t *Tracker) reopened(a *Attempt, n *record, seen *sightings) sight {
	if p := seen.lost; p.record != nil && t.opened(a, p.record, n) {
		return p
	}
	return sight{}
}

// continued judges the follow-up of an answer that asked for input (MCP
// 2026-07-28, basic/patterns/mrtr). It has a new id by rule and is no retry; the
// follow-up itself may be sent again.
func (t *Tracker) continued(a *Attempt, n *record, seen *sightings) decision {
	if p := seen.leg; p.record != nil && p.record.has(flagFailed) && within(p.record, n, t.window) {
		return repeat(UnknownOrigin, afterFailure(p.record, n), p)
	}
	d := decision{evidence: InputResponse}
	switch {
	case n.has(flagState):
		// The state is the server's and comes back byte for byte: no other
		// answer is meant.
		if mark, ok := t.askedBy(a, n); ok {
			d.previous = sight{record: &mark}
		}
	case seen.asked.record != nil && !seen.twoAsked:
		seen.asked.record.flags |= flagContinued
		d.previous = seen.asked
	case seen.asked.record == nil && seen.told.record != nil && !seen.twoTold:
		d.previous = seen.told
	}
	return d
}

// calledAgain judges a call by the last equal one before it, which has ended.
func (t *Tracker) calledAgain(a *Attempt, n *record, seen *sightings) decision {
	p := seen.call
	if p.record == nil {
		return decision{evidence: NoPredecessor}
	}
	r := p.record
	if r.has(flagElicitation) && within(r, n, consentTime.Nanoseconds()) {
		// The server asked the user to go somewhere first, and the client to
		// call again then (MCP 2025-11-25, client/elicitation, error -32042).
		return decision{evidence: InputResponse, continuation: WithInput, previous: p}
	}
	if !within(r, n, t.window) {
		return decision{evidence: NoPredecessor}
	}
	failed := r.has(flagFailed)
	switch r.outcome {
	case verdict.TaskCreated:
		class, ended := t.taskEnded(a, r, n)
		switch {
		case !ended:
			return repeat(UnknownOrigin, RepeatWhileTaskActive, p)
		case class == verdict.Success:
			return decision{evidence: AfterSuccess}
		}
		failed = class == verdict.Failure
	case verdict.InputRequired:
		return repeat(UnknownOrigin, RestartAfterInputRequired, p)
	}
	switch {
	case failed:
		return t.afterFailure(a, n, p)
	case r.class == verdict.Success:
		return decision{evidence: AfterSuccess}
	default:
		return decision{evidence: AfterOther}
	}
}

// afterFailure judges a call of which p failed.
func (t *Tracker) afterFailure(a *Attempt, n *record, p sight) decision {
	r := p.record
	switch {
	case r.has(flagHeaders):
		// The headers were at fault, which are not compared. That the client
		// fetched the list of tools and called again is what it has to do (MCP
		// 2026-07-28 streamable-http, Custom Headers); else it may have been
		// another request.
		if t.listed(a, r, n) {
			return repeat(onlyClient(a, SDK), HeaderMismatch, p)
		}
		return decision{evidence: AfterCorrection}
	case r.has(flagVersion) && n.version != 0 && r.version != 0 && n.version != r.version:
		// What the client has to do (MCP 2026-07-28 basic/versioning).
		return repeat(onlyClient(a, SDK), VersionNegotiation, p)
	case n.toolCall != 0 && n.toolCall == r.toolCall:
		// One decision to call, carried out twice.
		return repeat(onlyClient(a, SDK), SameToolCall, p)
	case n.toolCall != 0 && r.toolCall != 0:
		return repeat(Application, NewToolCall, p)
	case n.key != 0 && n.key == r.key:
		return repeat(UnknownOrigin, SameIdempotencyKey, p)
	case a.NoArguments && !within(r, n, emptyGap):
		return decision{evidence: NoPredecessor}
	default:
		return repeat(UnknownOrigin, afterFailure(r, n), p)
	}
}

// onlyClient is o where the client itself was seen, and unknown behind it: a
// gateway passes on what the client states, and may repeat it.
func onlyClient(a *Attempt, o Origin) Origin {
	if a.Side == verdict.Server || a.Intermediary {
		return UnknownOrigin
	}
	return o
}

// afterFailure is the evidence where nothing but the failure of p is known.
func afterFailure(p, n *record) Evidence {
	if p.id == n.id && n.id != 0 {
		return SameIDAfterFailure
	}
	return NewIDAfterFailure
}
