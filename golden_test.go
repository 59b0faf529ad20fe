package mcpprocessor

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/golden"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/pdatatest/plogtest"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/pdatatest/ptracetest"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

var update = flag.Bool("update", false, "write expected.yaml of the golden tests anew; read the difference before you keep it")

// TestGolden runs the golden tests about settings and attributes.
func TestGolden(t *testing.T) {
	for _, folder := range goldenFolders(t, "golden") {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			require.NoError(t, runGolden(t, folder, goldenSettings(t, folder)))
		})
	}
}

// goldenFolders returns the golden tests in a folder of testdata. Each has an
// input.yaml, an expected.yaml and, if it needs settings, a config.yaml.
func goldenFolders(t *testing.T, name string) []string {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join("testdata", name, "*"))
	require.NoError(t, err)
	require.NotEmpty(t, folders)
	return folders
}

// runGolden sends input.yaml of folder through the processor with settings. It
// returns how the result differs from expected.yaml.
func runGolden(t *testing.T, folder, settings string) error {
	t.Helper()
	in := start(t, settings)
	td, ld := goldenInput(t, folder)
	expected := filepath.Join(folder, "expected.yaml")
	var difference error
	if td.SpanCount() > 0 {
		difference = compareTraces(t, expected, in.processTraces(td))
	} else {
		difference = compareLogs(t, expected, in.processLogs(ld))
	}
	in.requireQuiet(warnsOfAbsentBodies)
	return difference
}

// goldenSettings returns config.yaml of folder, "" if it has none.
func goldenSettings(t *testing.T, folder string) string {
	t.Helper()
	settings, err := os.ReadFile(filepath.Join(folder, "config.yaml"))
	if !errors.Is(err, fs.ErrNotExist) {
		require.NoError(t, err)
	}
	return string(settings)
}

// goldenInput returns what input.yaml holds: spans or log records.
func goldenInput(t *testing.T, folder string) (ptrace.Traces, plog.Logs) {
	t.Helper()
	input := filepath.Join(folder, "input.yaml")
	td, err := golden.ReadTraces(input)
	require.NoError(t, err)
	ld, err := golden.ReadLogs(input)
	require.NoError(t, err)
	require.NotZero(t, td.SpanCount()+ld.LogRecordCount(), input)
	return td, ld
}

func compareTraces(t *testing.T, file string, actual ptrace.Traces) error {
	t.Helper()
	if *update {
		require.NoError(t, golden.WriteTracesToFile(file, actual))
	}
	expected, err := golden.ReadTraces(file)
	require.NoError(t, err)
	return ptracetest.CompareTraces(expected, actual)
}

func compareLogs(t *testing.T, file string, actual plog.Logs) error {
	t.Helper()
	if *update {
		require.NoError(t, golden.WriteLogsToFile(file, actual))
	}
	expected, err := golden.ReadLogs(file)
	require.NoError(t, err)
	return plogtest.CompareLogs(expected, actual)
}
