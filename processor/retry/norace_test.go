//go:build !race

package retry

// raceDetector reports that the tests run under it, where memory is not what it
// is elsewhere.
const raceDetector = false
