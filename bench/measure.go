package main

import (
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// effort is how long to measure.
type effort struct {
	rounds int
	cell   time.Duration // CPU time of one candidate in one round
}

var (
	fullEffort  = effort{rounds: 25, cell: 6 * time.Millisecond}
	shortEffort = effort{rounds: 7, cell: 3 * time.Millisecond}
)

// candidate is one way to do some work.
type candidate struct {
	// run does the work n times.
	run func(n int)
	// units is how many spans, records or bytes one time is, for figures per
	// unit. Zero means one.
	units int
	// times fixes n. Zero means as often as the effort allows.
	times int
	// collect is for what allocates: the garbage collector runs before each cell,
	// so that each begins with the same heap, and the whole cell counts, with all
	// that is collected in it.
	collect bool
}

// series is what one candidate took in each round, in nanoseconds of CPU time
// per unit.
type series []float64

// measure runs all candidates in each round, in an order that changes from round
// to round, so that what else runs on the machine meets all of them. It counts
// the CPU time of the whole process: what the garbage collector does for a
// candidate counts as the candidate's.
//
// Of a candidate that allocates nothing each cell is run in slices, of which the
// fastest counts. What else runs on a machine takes caches, execution units and
// clock speed away from half a millisecond here and there, and never gives any.
func measure(e effort, candidates ...candidate) []series {
	const slices = 8
	for i := range candidates {
		c := &candidates[i]
		c.units = max(c.units, 1)
		if c.times == 0 {
			c.times = calibrate(c, e.cell/slices)
		}
	}
	results := make([]series, len(candidates))
	for round := range e.rounds {
		for i := range candidates {
			k := (i + round) % len(candidates)
			if round%2 == 1 {
				k = len(candidates) - 1 - k
			}
			c := &candidates[k]
			var took time.Duration
			if c.collect {
				runtime.GC()
				took = slice(c)
			} else {
				took = slice(c)
				for range slices - 1 {
					took = min(took, slice(c))
				}
			}
			results[k] = append(results[k], float64(took)/float64(c.times*c.units))
		}
	}
	return results
}

// slice returns the CPU time that c takes once.
func slice(c *candidate) time.Duration {
	start := cpuTime()
	c.run(c.times)
	return cpuTime() - start
}

// calibrate returns how often c can be run in d. It also warms c up.
func calibrate(c *candidate, d time.Duration) int {
	for n := 1; ; {
		start := cpuTime()
		c.run(n)
		took := cpuTime() - start
		if took >= d/2 {
			return max(1, int(int64(n)*int64(d)/int64(took)))
		}
		n = max(n+1, int(float64(n)*min(10, 0.7*float64(d)/float64(max(took, 1)))))
	}
}

// cpuTime is the CPU time that this process has used.
func cpuTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}

// ratio returns a over b round by round.
func ratio(a, b series) series {
	return combine(a, b, func(x, y float64) float64 { return x / y })
}

// minus returns a less b round by round.
func minus(a, b series) series {
	return combine(a, b, func(x, y float64) float64 { return x - y })
}

func combine(a, b series, f func(x, y float64) float64) series {
	c := make(series, len(a))
	for i := range a {
		c[i] = f(a[i], b[i])
	}
	return c
}

// spread is the middle of a series and the range in which four fifths of it lie.
type spread struct {
	median, p10, p90 float64
}

func (s series) spread() spread {
	sorted := slices.Sorted(slices.Values(s))
	at := func(q float64) float64 { return sorted[int(q*float64(len(sorted)-1)+0.5)] }
	return spread{median: at(0.5), p10: at(0.1), p90: at(0.9)}
}

// fixed is the spread of what was counted rather than timed.
func fixed(n float64) spread { return spread{n, n, n} }

// allocations returns how many objects and bytes one unit of c allocates.
func allocations(c candidate, times int) (objects, bytes float64) {
	before, after := memory(func() { c.run(1) }, func() { c.run(times) })
	n := float64(times * max(c.units, 1))
	return float64(after.Mallocs-before.Mallocs) / n, float64(after.TotalAlloc-before.TotalAlloc) / n
}

// memory returns what the runtime says before and after f, which runs alone, after
// warmUp. The garbage collector does not run meanwhile: it empties the pools of the
// processors, which fill again, some ten KiB at a time, however many spans there are.
func memory(warmUp, f func()) (before, after runtime.MemStats) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	warmUp()
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return before, after
}
