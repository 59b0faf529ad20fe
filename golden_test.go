package mcpprocessor

import (
	"flag"
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

var update = flag.Bool("update", false, "write testdata/golden/*/expected.yaml anew; read the difference before you keep it")

// TestGolden sends input.yaml of each folder in testdata/golden through the
// processor with the settings of config.yaml, and compares with expected.yaml.
func TestGolden(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join("testdata", "golden", "*"))
	require.NoError(t, err)
	require.NotEmpty(t, folders)
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			settings, err := os.ReadFile(filepath.Join(folder, "config.yaml"))
			require.NoError(t, err)
			in := start(t, string(settings))
			input, expected := filepath.Join(folder, "input.yaml"), filepath.Join(folder, "expected.yaml")

			td, err := golden.ReadTraces(input)
			require.NoError(t, err)
			ld, err := golden.ReadLogs(input)
			require.NoError(t, err)
			if td.SpanCount() > 0 {
				compareTraces(t, expected, in.processTraces(td))
			} else {
				require.NotZero(t, ld.LogRecordCount())
				compareLogs(t, expected, in.processLogs(ld))
			}
			in.requireQuiet(warnsOfAbsentBodies)
		})
	}
}

func compareTraces(t *testing.T, file string, actual ptrace.Traces) {
	t.Helper()
	if *update {
		require.NoError(t, golden.WriteTracesToFile(file, actual))
	}
	expected, err := golden.ReadTraces(file)
	require.NoError(t, err)
	require.NoError(t, ptracetest.CompareTraces(expected, actual))
}

func compareLogs(t *testing.T, file string, actual plog.Logs) {
	t.Helper()
	if *update {
		require.NoError(t, golden.WriteLogsToFile(file, actual))
	}
	expected, err := golden.ReadLogs(file)
	require.NoError(t, err)
	require.NoError(t, plogtest.CompareLogs(expected, actual))
}
