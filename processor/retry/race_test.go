//go:build race

package retry

const raceDetector = true
