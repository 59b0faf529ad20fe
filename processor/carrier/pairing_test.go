package carrier

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/otel-mcp/mcpprocessor/processor/jsonrpc"
	"github.com/otel-mcp/mcpprocessor/processor/verdict"
)

func numberID(n int) jsonrpc.ID { return jsonrpc.NumberID(fmt.Sprint(n)) }

func askedFor(tool string) verdict.Asked {
	return verdict.Asked{Method: "tools/call", Tool: tool, Complete: true}
}

// asked looks up the request with this id, and returns its tool.
func asked(p *Pairing, s Stream, id jsonrpc.ID) (string, bool) {
	var a PairingAsker
	a.Reset(p, &s)
	request, ok := a.Asked(id)
	return request.Tool, ok
}

// pendingOf is the number of entries that p says it holds.
func pendingOf(p *Pairing) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.size
}

// kept is the number of entries that p really holds.
func kept(p *Pairing) (n int) {
	for _, list := range p.pending {
		n += len(list)
	}
	return n
}

func seconds(n float64) int64 { return int64(n * float64(time.Second)) }

func TestPairingRemembers(t *testing.T) {
	p := NewPairing(30*time.Second, 10)
	p.Remember(&Stream{Time: seconds(1)}, numberID(1), askedFor("a"))
	require.Equal(t, 1, pendingOf(p))

	_, ok := asked(p, Stream{Time: seconds(0.5)}, numberID(1))
	require.False(t, ok, "before it was asked")
	_, ok = asked(p, Stream{Time: seconds(2)}, numberID(2))
	require.False(t, ok, "another id")
	_, ok = asked(p, Stream{Time: seconds(2), Label: "x"}, numberID(1))
	require.False(t, ok, "another log")
	_, ok = asked(p, Stream{Time: seconds(2), Vantage: 1}, numberID(1))
	require.False(t, ok, "another vantage")
	_, ok = asked(p, Stream{Time: seconds(31.5)}, numberID(1))
	require.False(t, ok, "beyond the window")

	tool, ok := asked(p, Stream{Time: seconds(31)}, numberID(1))
	require.True(t, ok)
	require.Equal(t, "a", tool)
	_, ok = asked(p, Stream{Time: seconds(31)}, numberID(1))
	require.False(t, ok, "answered already")
	require.Zero(t, pendingOf(p))
	require.Equal(t, PairingCounts{Paired: 1}, p.Counts(), "as many as came have gone")
	require.Equal(t, PairingCounts{}, p.Counts())
}

// TestPairingOfSessions: a request with a session is found by it, and by its log
// where the response does not say of which session it is.
func TestPairingOfSessions(t *testing.T) {
	p := NewPairing(30*time.Second, 10)
	remember := func() {
		p.Remember(&Stream{Session: "A", Label: "l", Time: 1}, numberID(1), askedFor("a"))
		p.Remember(&Stream{Session: "B", Label: "l", Time: 2}, numberID(1), askedFor("b"))
	}
	remember()
	require.Equal(t, 4, pendingOf(p), "each counts twice: by its session and by its log")
	tool, _ := asked(p, Stream{Session: "B", Label: "other", Time: 3}, numberID(1))
	require.Equal(t, "b", tool)
	tool, _ = asked(p, Stream{Label: "l", Time: 3}, numberID(1))
	require.Equal(t, "a", tool)
	require.Zero(t, pendingOf(p))

	remember()
	_, ok := asked(p, Stream{Label: "l", Time: 3}, numberID(1))
	require.False(t, ok)
	require.EqualValues(t, 1, p.Counts().Ambiguous)
	_, ok = asked(p, Stream{Session: "l", Time: 3}, numberID(1))
	require.False(t, ok, "a session called like a log")
}

// TestPairingDirections: ids are unique per sender only.
func TestPairingDirections(t *testing.T) {
	toServer, toClient := Stream{ToServer: true}, Stream{ToClient: true}
	sampling := verdict.Asked{Method: "sampling/createMessage"}
	for name, c := range map[string]struct {
		client, server Stream // of the requests
	}{
		"told":       {toServer, toClient},
		"by methods": {Stream{}, Stream{}},
	} {
		p := NewPairing(30*time.Second, 10)
		p.Remember(&c.client, numberID(1), askedFor("a"))
		p.Remember(&c.server, numberID(1), sampling)
		_, ok := asked(p, Stream{}, numberID(1))
		require.False(t, ok, "%s: a response of either side", name)
		tool, ok := asked(p, toServer, numberID(1))
		require.True(t, ok, name)
		require.Empty(t, tool, name)
		tool, ok = asked(p, toClient, numberID(1))
		require.True(t, ok, name)
		require.Equal(t, "a", tool, name)
	}
}

// TestPairingIsBounded: whatever comes, no more is kept than was allowed, and
// the queue of what to forget next does not outgrow it.
func TestPairingIsBounded(t *testing.T) {
	const limit, rounds = 100, 20_000
	for name, round := range map[string]func(p *Pairing, i int){
		"never answered": func(p *Pairing, i int) {
			p.Remember(&Stream{Time: int64(i)}, numberID(i), askedFor("a"))
		},
		"answered at once": func(p *Pairing, i int) {
			p.Remember(&Stream{Time: int64(i)}, numberID(i), askedFor("a"))
			_, ok := asked(p, Stream{Time: int64(i)}, numberID(i))
			require.True(t, ok)
		},
		"one waits, the others are answered": func(p *Pairing, i int) {
			p.Remember(&Stream{Time: int64(i)}, numberID(i), askedFor("a"))
			if i > 0 {
				asked(p, Stream{Time: int64(i)}, numberID(i))
			}
		},
		"of sessions": func(p *Pairing, i int) {
			s := Stream{Time: int64(i), Session: fmt.Sprint(i % 7), Label: fmt.Sprint(i % 3)}
			p.Remember(&s, numberID(i), askedFor("a"))
			if i%2 == 0 {
				asked(p, s, numberID(i))
			}
		},
		"the same id": func(p *Pairing, i int) {
			p.Remember(&Stream{Time: int64(i)}, numberID(1), askedFor("a"))
		},
		"at the same time": func(p *Pairing, i int) {
			p.Remember(&Stream{}, numberID(1), askedFor(fmt.Sprint(i)))
		},
		"delivered over and over": func(p *Pairing, _ int) {
			p.Remember(&Stream{}, numberID(1), askedFor("a"))
			asked(p, Stream{}, numberID(1))
		},
		"backwards in time": func(p *Pairing, i int) {
			p.Remember(&Stream{Time: seconds(float64(rounds - i))}, numberID(i), askedFor("a"))
		},
		"far apart": func(p *Pairing, i int) {
			p.Remember(&Stream{Time: seconds(float64(1000 * (i % 1000)))}, numberID(i), askedFor("a"))
		},
		"batches of answers": func(p *Pairing, i int) {
			p.Remember(&Stream{Time: int64(i)}, numberID(i%500), askedFor("a"))
			if i%500 == 499 {
				for id := range 500 {
					asked(p, Stream{Time: int64(i)}, numberID(id))
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := NewPairing(30*time.Second, limit)
			for i := range rounds {
				round(p, i)
				if len(p.order) > 2*(2*limit+2048) || p.size > limit {
					t.Fatalf("after %d rounds: %d in the queue, %d remembered", i, len(p.order), p.size)
				}
			}
			require.Equal(t, p.size, kept(p))
			require.LessOrEqual(t, cap(p.order), 4*(2*limit+2048))
			for key, list := range p.pending {
				require.NotEmpty(t, list, key)
			}
		})
	}
}

// TestPairingForgetsTheOldest: and counts it.
func TestPairingForgetsTheOldest(t *testing.T) {
	p := NewPairing(30*time.Second, 3)
	for i := range 5 {
		p.Remember(&Stream{Time: int64(i)}, numberID(i), askedFor("a"))
	}
	for i := range 5 {
		_, ok := asked(p, Stream{Time: 9}, numberID(i))
		require.Equal(t, i >= 2, ok, i)
	}
	require.Equal(t, PairingCounts{Paired: 3, Evicted: 2}, p.Counts())

	// What counts is how long ago an item came, not what time it has.
	now := time.Duration(0)
	p.clock = func() time.Duration { return now }
	p.Remember(&Stream{Time: seconds(100)}, numberID(1), askedFor("a"))
	now = 31 * time.Second
	p.Remember(&Stream{Time: seconds(1)}, numberID(2), askedFor("a"))
	require.Equal(t, PairingCounts{Expired: 1, Pending: 1}, p.Counts())
}

// TestRememberedTextIsItsOwn: nothing refers to the bodies that were read.
func TestRememberedTextIsItsOwn(t *testing.T) {
	p := NewPairing(30*time.Second, 3)
	tool := strings.Repeat("lookup", 2)
	p.Remember(&Stream{}, numberID(1), askedFor(tool))
	got, _ := asked(p, Stream{}, numberID(1))
	require.Equal(t, tool, got)
	require.NotSame(t, unsafe.StringData(tool), unsafe.StringData(got))
}

// TestPairingIsSafe: batches come from several goroutines at a time.
func TestPairingIsSafe(t *testing.T) {
	p := NewPairing(30*time.Second, 500)
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for i := range 2000 {
				s := Stream{Vantage: uint64(worker % 4), Time: int64(i), Label: fmt.Sprint(worker)}
				if worker%2 == 0 {
					s.Session = "s"
				}
				p.Remember(&s, numberID(i), askedFor("a"))
				if i%3 > 0 {
					asked(p, s, numberID(i))
				}
				if i%100 == 0 {
					_ = p.Counts()
				}
			}
		})
	}
	group.Wait()
	require.LessOrEqual(t, pendingOf(p), 500)
	require.Equal(t, pendingOf(p), kept(p))
}

func BenchmarkPairing(b *testing.B) {
	p := NewPairing(30*time.Second, 10_000)
	s := Stream{Session: "5f0c", Label: "\x00/var/log/mcp.log"}
	var a PairingAsker
	call := askedFor("lookup")
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		s.Time = int64(i)
		id := numberID(i)
		p.Remember(&s, id, call)
		a.Reset(p, &s)
		if _, ok := a.Asked(id); !ok {
			b.Fatal("not found")
		}
	}
}
