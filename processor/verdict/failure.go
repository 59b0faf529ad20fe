package verdict

import "strings"

// SpanFailure is what a span says of itself, beside the HTTP status.
type SpanFailure uint8

// What a span may say of itself, the more telling one first.
const (
	// NotFailed: no error was recorded.
	NotFailed SpanFailure = iota
	// FailedTimeout: somebody waited no longer.
	FailedTimeout
	// FailedReset: the connection broke.
	FailedReset
	// FailedAbort: this side gave up on purpose.
	FailedAbort
	// FailedOther: an error in words that this list does not know.
	FailedOther
)

// failureWords is the closed list of what HTTP clients and servers of the
// languages call these failures, in lower case. The first match wins: a time-out
// is often told as a cancelled request, and Node tells a reset as "aborted".
var failureWords = [...]struct {
	word    string
	failure SpanFailure
}{
	{"timeout", FailedTimeout}, // TimeoutError, SocketTimeoutException, HttpTimeoutException, ReadTimeout, UND_ERR_*_TIMEOUT, ...
	{"etimedout", FailedTimeout},
	{"esockettimedout", FailedTimeout},
	{"timed out", FailedTimeout},
	{"timedout", FailedTimeout},
	{"deadline exceeded", FailedTimeout},
	{"deadlineexceeded", FailedTimeout},
	{"deadline_exceeded", FailedTimeout},
	{"econnreset", FailedReset},
	{"econnaborted", FailedReset},
	{"epipe", FailedReset},
	{"broken pipe", FailedReset},
	{"brokenpipe", FailedReset},
	{"connection reset", FailedReset},
	{"connectionreset", FailedReset},
	{"connection_reset", FailedReset},
	{"connection aborted", FailedReset},
	{"connectionaborted", FailedReset},
	{"und_err_socket", FailedReset},
	{"other side closed", FailedReset},
	{"socket hang up", FailedReset},
	{"forcibly closed", FailedReset},
	{"stream reset", FailedReset},
	{"stream error", FailedReset}, // HTTP/2 RST_STREAM in Go
	{"rst_stream", FailedReset},
	{"unexpected eof", FailedReset},
	{"unexpected_eof", FailedReset},
	{"unexpectedeof", FailedReset},
	{"remoteprotocolerror", FailedReset},
	{"incompleteread", FailedReset},
	{"incomplete chunked read", FailedReset},
	{"readerror", FailedReset},
	{"response_ended", FailedReset},
	{"responseended", FailedReset},
	{"prematurechannelclosure", FailedReset},
	{"premature close", FailedReset},
	{"premature_close", FailedReset},
	{"prematureclose", FailedReset},
	{"clientdisconnect", FailedReset},
	{"client disconnected", FailedReset},
	{"abort", FailedAbort}, // AbortError, ABORT_ERR, aborted
	{"context canceled", FailedAbort},
	{"context cancelled", FailedAbort},
	{"context_canceled", FailedAbort},
	{"request canceled", FailedAbort},
	{"cancelledexception", FailedAbort},
	{"cancellationexception", FailedAbort},
	{"cancelederror", FailedAbort},
	{"cancellederror", FailedAbort},
	{"operationcanceled", FailedAbort},
	{"taskcanceled", FailedAbort},
	{"cancelled", FailedAbort},
	{"canceled", FailedAbort},
}

// FailureOf reads the words in which a span tells of its failure: error.type,
// the exception's type and message, the status message.
func FailureOf(words ...string) SpanFailure {
	found := NotFailed
	for _, w := range words {
		if w == "" {
			continue
		}
		if found == NotFailed {
			found = FailedOther
		}
		for i := range failureWords {
			f := failureWords[i].failure
			if f < found && ContainsFold(w, failureWords[i].word) {
				found = f
			}
		}
	}
	return found
}

// ContainsFold reports whether s holds word, which must be in lower case, in any
// case. It does not allocate.
func ContainsFold(s, word string) bool {
	for i := 0; i+len(word) <= len(s); i++ {
		if s[i]|0x20 == word[0]|0x20 && strings.EqualFold(s[i:i+len(word)], word) {
			return true
		}
	}
	return false
}
