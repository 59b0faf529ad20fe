package retry

import "github.com/otel-mcp/mcpprocessor/processor/verdict"

// Marks are records of what other exchanges refer to by a key of the protocol: a
// session, a task, the state of a request for input, a stream that broke off.

// markKey is the key of a mark of kind k, seen from a vantage.
func markKey(vantage Digest, k kind, parts ...uint64) uint64 {
	h := mix(uint64(vantage), uint64(k))
	for _, p := range parts {
		h = mix(h, p)
	}
	return h
}

// mark remembers what r tells of, as a mark of kind k.
func (t *Tracker) mark(k kind, key uint64, r record) {
	r.kind, r.op = k, key
	s := t.markShard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	t.remember(s, &r)
}

// eachMark calls visit for the marks of kind k with key, the newest first, until
// it returns false. The marks are locked meanwhile.
func (t *Tracker) eachMark(k kind, key uint64, visit func(*record) bool) {
	s := t.markShard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.eachMark(k, key, visit)
}

func (s *shard) eachMark(k kind, key uint64, visit func(*record) bool) {
	number := s.find(byTrace, key)
	for range maxSteps {
		if !s.alive(number) {
			return
		}
		r := s.at(number)
		if r.kind == k && r.op == key && !visit(r) {
			return
		}
		number = r.next[byTrace]
	}
}

// markResult remembers what the result of n may be referred to by.
func (t *Tracker) markResult(vantage Digest, n *record, res *Result) {
	switch {
	case res.Outcome == verdict.InputRequired && res.RequestState != 0:
		t.mark(markInput, inputKey(n.op, res.RequestState), *n)
	case res.Outcome == verdict.TaskCreated && res.TaskID != 0:
		m := *n
		m.id, m.body = uint32(res.TaskID>>32), uint32(res.TaskID)
		t.mark(markTask, taskKey(vantage, n.target, res.TaskID.short()), m)
	}
}

func inputKey(op uint64, state Digest) uint64 { return markKey(Digest(op), markInput, uint64(state)) }

func taskKey(vantage Digest, target, task uint32) uint64 {
	return markKey(vantage, markTask, uint64(target), uint64(task))
}

// askedBy returns the answer that n, which is what is remembered of a, brings
// the state of.
func (t *Tracker) askedBy(a *Attempt, n *record) (asked record, ok bool) {
	t.eachMark(markInput, inputKey(n.op, a.RequestState), func(r *record) bool {
		if r.start < n.start && r.end <= n.start && within(r, n, inputTime.Nanoseconds()) && !sameItem(r, n) {
			asked, ok = *r, true
		}
		return !ok
	})
	return asked, ok
}

// observeOther observes what is neither a call nor a stream.
func (t *Tracker) observeOther(a *Attempt) Finding {
	switch a.Method {
	case verdict.TasksGet, verdict.TasksResult, verdict.TasksCancel, verdict.TasksUpdate:
		return t.observeTask(a)
	case verdict.Initialize, verdict.ToolsList:
		if a.Open || a.Result.Class != verdict.Success {
			break
		}
		var n record
		n.of(a, 0)
		switch {
		case a.Method == verdict.Initialize:
			t.mark(markSession, sessionKey(a.Vantage, a.Session, a.Target), n)
		case n.traced() || n.session != 0:
			t.mark(markList, listKey(a.Vantage, &n), n)
		}
	}
	return Finding{Evidence: NotACall}
}

// sessionKey is the key of the opening of a session, or of any at target if the
// response did not tell which.
func sessionKey(vantage, session, target Digest) uint64 {
	if session != 0 {
		return markKey(vantage, markSession, 1, uint64(session))
	}
	return markKey(vantage, markSession, 0, uint64(target))
}

// opened reports whether the session of n, which is what is remembered of a, was
// opened after p had ended and before n began.
func (t *Tracker) opened(a *Attempt, p, n *record) bool {
	found := false
	between := func(r *record) bool {
		found = found || r.start >= p.end && r.end <= n.start && r.target == n.target
		return !found
	}
	t.eachMark(markSession, sessionKey(a.Vantage, a.Session, a.Target), between)
	if !found {
		t.eachMark(markSession, sessionKey(a.Vantage, 0, a.Target), between)
	}
	return found
}

// listKey is the key of the fetching of a list of tools, in the trace of n, or
// in its session if it is in none.
func listKey(vantage Digest, n *record) uint64 {
	if n.traced() {
		return markKey(vantage, markList, traceKey(0, n.trace))
	}
	return markKey(vantage, markList, 0, uint64(n.session))
}

// listed reports whether the list of tools was fetched between p and n.
func (t *Tracker) listed(a *Attempt, p, n *record) bool {
	if n.traced() && !sameTrace(p, n) {
		return false
	}
	found := false
	t.eachMark(markList, listKey(a.Vantage, n), func(r *record) bool {
		found = r.start >= p.end && r.end <= n.start && r.target == n.target
		return !found
	})
	return found
}

// observeTask observes what asks for a task, and links it to the call that made
// the task.
func (t *Tracker) observeTask(a *Attempt) Finding {
	f := Finding{Evidence: TaskMethod, Continuation: OfTask}
	if a.TaskID == 0 {
		return f
	}
	n := record{packed: pack(OfTask, NoSafety, ranNot)}
	t.eachMark(markTask, taskKey(a.Vantage, a.Target.short(), a.TaskID.short()), func(r *record) bool {
		if r.id != uint32(a.TaskID>>32) || r.body != uint32(a.TaskID) || r.start >= a.Start {
			return true
		}
		f.Seen, f.PreviousClass = true, r.class
		f.link(&n, r)
		if class, ended := ends(a); ended && !r.has(flagDone) {
			r.flags |= flagDone
			r.class, r.end = class, max(a.Result.End, r.end)
		}
		return false
	})
	return f
}

// ends reports whether a tells that its task has ended, and how. A status that
// is neither working, failed nor cancelled may still wait for input.
func ends(a *Attempt) (verdict.Class, bool) {
	if a.Open {
		return verdict.NoClass, false
	}
	switch a.Result.Outcome {
	case verdict.ToolSuccess, verdict.ToolError, verdict.InvalidToolResult:
		return a.Result.Class, true
	case verdict.JSONRPCError:
		// The error of the call, or the task is not there any more.
		return verdict.Failure, true
	case verdict.RPCSuccess:
		switch {
		case a.Result.Reason == verdict.TaskFailed:
			return verdict.Failure, true
		case a.Result.Reason == verdict.TaskCancelled, a.Method == verdict.TasksCancel:
			return verdict.Neutral, true
		case a.Method == verdict.TasksResult:
			return verdict.Success, true
		}
	}
	return verdict.NoClass, false
}

// taskEnded reports whether the task that p made had ended when n began, and
// how.
func (t *Tracker) taskEnded(a *Attempt, p, n *record) (class verdict.Class, ended bool) {
	if p.asked == 0 {
		return verdict.NoClass, false
	}
	t.eachMark(markTask, taskKey(a.Vantage, p.target, p.asked), func(r *record) bool {
		if r.span != p.span || r.trace != p.trace || r.start != p.start {
			return true
		}
		class, ended = r.class, r.has(flagDone) && r.end <= n.start
		return false
	})
	return class, ended
}

const statusAccepted = 202

// markStream remembers a request whose stream ended without the answer, which a
// later GET may bring (Streamable HTTP up to 2025-11-25, Resumability and
// Redelivery).
func (t *Tracker) markStream(a *Attempt) {
	if a.Open || a.Modern || a.ID == 0 {
		return
	}
	switch a.Result.Outcome {
	case verdict.StreamIncomplete:
	case verdict.StreamDeferred:
		if a.Result.Status == statusAccepted {
			return // there was no stream
		}
	default:
		return
	}
	var n record
	n.of(a, 0)
	if key, ok := streamKey(a, &n); ok {
		t.mark(markStream, key, n)
	}
}

// streamKey is the key of the streams that a GET may resume: those of its
// session, or of its caller where there is none.
func streamKey(a *Attempt, n *record) (uint64, bool) {
	switch {
	case n.session != 0:
		return markKey(a.Vantage, markStream, uint64(n.target), uint64(a.Session)), true
	case n.parent != 0 && n.traced():
		return markKey(a.Vantage, markStream, uint64(n.target), traceKey(uint64(n.parent), n.trace)), true
	default:
		return 0, false
	}
}

// observeStream observes a GET. One with Last-Event-ID goes on with a stream; if
// it tells which answer it brings, or if one stream only broke off, it is known
// with which. From 2026-07-28 on the header has no meaning.
func (t *Tracker) observeStream(a *Attempt) Finding {
	if !a.LastEventID || a.Modern {
		return Finding{Evidence: NotACall}
	}
	f := Finding{Evidence: LastEventID, Continuation: OfStream}
	var n record
	n.of(a, 0)
	n.packed = pack(OfStream, NoSafety, ranNot)
	key, ok := streamKey(a, &n)
	if !ok {
		return f
	}
	s := t.markShard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	// What was resumed to its end is not resumed again, but by this very item.
	self := shortSpan(a.SpanID)
	var stream *record
	several := false
	s.eachMark(markStream, key, func(r *record) bool {
		if r.end <= n.start && within(r, &n, t.window) && (!r.has(flagDone) || r.asked == self) && (n.id == 0 || n.id == r.id) {
			several = stream != nil
			stream = r
		}
		return !several
	})
	if stream == nil || several {
		return f
	}
	f.Seen, f.PreviousClass = true, stream.class
	f.link(&n, stream)
	if !a.Open && n.ending() == answered {
		stream.flags |= flagDone
		stream.asked = self
	}
	return f
}
