package mcpprocessor

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"

	"github.com/otel-mcp/mcpprocessor/processor/carrier"
)

// readConfig reads a file of testdata/config over the default configuration and
// validates it, as the collector does.
func readConfig(t *testing.T, file string) (*Config, error) {
	t.Helper()
	conf, err := confmaptest.LoadConf(file)
	require.NoError(t, err)
	cfg := NewFactory().CreateDefaultConfig().(*Config)
	if err := conf.Unmarshal(cfg); err != nil {
		return nil, err
	}
	return cfg, confmap.Validate(cfg)
}

func TestDefaultConfig(t *testing.T) {
	cfg := loadConfig(t, "")
	require.Equal(t, NewFactory().CreateDefaultConfig(), cfg, "what `mcp:` alone means")
	require.Equal(t, cfg, loadConfig(t, "{}"))
	require.NoError(t, confmap.Validate(cfg))

	require.Empty(t, cfg.Match.URLPaths)
	require.Equal(t, carrier.DefaultRequestAttributes, cfg.Bodies.RequestAttributes)
	require.Equal(t, carrier.DefaultResponseAttributes, cfg.Bodies.ResponseAttributes)
	require.Empty(t, cfg.Bodies.ExtraRequestAttributes)
	require.Empty(t, cfg.Bodies.ExtraResponseAttributes)
	require.Equal(t, 4<<20, cfg.Bodies.MaxBytes)
	require.Equal(t, KeepAlways, cfg.Bodies.Keep)
	require.Equal(t, HTTPStatusSpec, cfg.Classification.HTTPStatus)
	require.Equal(t, NullMembersPresent, cfg.Classification.NullMembers)
	require.False(t, cfg.Classification.InstrumentedSpans)
	require.Empty(t, cfg.Attributes)
	require.Equal(t, SpanStatusUnset, cfg.SpanStatus)
}

func TestDefaultConfigIsNotShared(t *testing.T) {
	createDefaultConfig().(*Config).Bodies.RequestAttributes[0] = "mine"
	require.Equal(t, requestBodyAttribute, createDefaultConfig().(*Config).Bodies.RequestAttributes[0])
	require.Equal(t, requestBodyAttribute, carrier.DefaultRequestAttributes[0])
}

// TestFullConfig reads a file that has each setting with a value that is not the
// default. A new setting has to be put in there.
func TestFullConfig(t *testing.T) {
	cfg, err := readConfig(t, filepath.Join("testdata", "config", "full.yaml"))
	require.NoError(t, err)
	requireAllSet(t, "", reflect.ValueOf(createDefaultConfig()).Elem(), reflect.ValueOf(cfg).Elem())

	require.Equal(t, []string{"/mcp", "/api/mcp/*"}, cfg.Match.URLPaths)
	require.Equal(t, []string{"rpc.request.body"}, cfg.Bodies.RequestAttributes)
	require.Equal(t, []string{"my.response", "my.response.copy"}, cfg.Bodies.ExtraResponseAttributes)
	require.Equal(t, KeepFailures, cfg.Bodies.Keep)
	require.Equal(t, map[string]AttributeConfig{"mcp.session.id": {Enabled: true}, "mcp.layer": {Enabled: false}}, cfg.Attributes)
}

// requireAllSet requires that no setting has its default value.
func requireAllSet(t *testing.T, key string, byDefault, set reflect.Value) {
	t.Helper()
	if set.Kind() != reflect.Struct {
		require.NotEqual(t, byDefault.Interface(), set.Interface(), "%s is not set", key)
		return
	}
	for i := range set.NumField() {
		name := set.Type().Field(i).Tag.Get("mapstructure")
		requireAllSet(t, strings.TrimPrefix(key+"::"+name, "::"), byDefault.Field(i), set.Field(i))
	}
}

// TestBadConfig reads testdata/config/bad_*.yaml, one file for each rule. The
// comments that it begins with are how the lines of the message begin, which
// names the key, the value and what would be right.
func TestBadConfig(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "config", "bad_*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			var want []string
			for line := range strings.Lines(string(text)) {
				if comment, ok := strings.CutPrefix(line, "# "); ok {
					want = append(want, strings.TrimSpace(comment))
				}
			}
			require.NotEmpty(t, want)

			_, err = readConfig(t, file)
			require.Error(t, err)
			got := strings.Split(err.Error(), "\n")
			if strings.Contains(err.Error(), "decoding failed") {
				// The collector's own words, over several lines.
				require.ErrorContains(t, err, want[0])
				return
			}
			require.Len(t, got, len(want), "%q", got)
			for i := range want {
				require.True(t, strings.HasPrefix(got[i], want[i]), "want %q, got %q", want[i], got[i])
			}
		})
	}
}
