// Package retry says who sent an MCP call again, and how that is known. It is
// given one [Attempt] after the other, with the verdict on each, and returns a
// [Finding]: an origin with its evidence, or that nothing tells of a retry.
//
// It rather says too little. A claim needs a predecessor that was seen, or the
// word of a sender; "unknown" means that a call was repeated and that nothing
// tells by whom. Attempts are compared within one vantage only, by their own
// times, never by their arrival; what is not remembered any more costs claims
// and makes none.
//
// It knows neither the collector nor its data model. docs/retries.md explains
// the values to those who read them.
package retry
