package mcpprocessor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/component"

	"github.com/otel-mcp/mcpprocessor/processor/carrier"
)

// Config is what users set under `processors: mcp:`. The zero value is not
// usable; the factory makes the default one.
type Config struct {
	Match          MatchConfig          `mapstructure:"match"`
	Bodies         BodiesConfig         `mapstructure:"bodies"`
	Classification ClassificationConfig `mapstructure:"classification"`
	// Attributes switches single attributes on or off, by name.
	Attributes map[string]AttributeConfig `mapstructure:"attributes"`
	// SpanStatus says when the status of a span is set.
	SpanStatus SpanStatus `mapstructure:"span_status"`
	// Retry says who sent a call again.
	Retry RetryConfig `mapstructure:"retry"`
	// Pairing joins log records that hold one side of an exchange each.
	Pairing PairingConfig `mapstructure:"pairing"`
}

// MatchConfig says what is MCP beside what shows it by itself.
type MatchConfig struct {
	// URLPaths are URL paths of MCP endpoints: exact, or a prefix with a
	// trailing *.
	URLPaths []string `mapstructure:"url_paths"`
}

// BodiesConfig says where bodies are and what becomes of them.
type BodiesConfig struct {
	// RequestAttributes replaces the list of attributes that are looked up for
	// request bodies; the first found counts.
	RequestAttributes []string `mapstructure:"request_attributes"`
	// ResponseAttributes replaces the list for response bodies.
	ResponseAttributes []string `mapstructure:"response_attributes"`
	// ExtraRequestAttributes are tried before RequestAttributes.
	ExtraRequestAttributes []string `mapstructure:"extra_request_attributes"`
	// ExtraResponseAttributes are tried before ResponseAttributes.
	ExtraResponseAttributes []string `mapstructure:"extra_response_attributes"`
	// FragmentAttributes hold results of tool calls without their envelope, as
	// some instrumentations record them. None by default.
	FragmentAttributes []string `mapstructure:"fragment_attributes"`
	// MessageAttributes replaces the list of attributes of log records that are
	// looked up for JSON-RPC messages of either side.
	MessageAttributes []string `mapstructure:"message_attributes"`
	// ExtraMessageAttributes are tried before MessageAttributes.
	ExtraMessageAttributes []string `mapstructure:"extra_message_attributes"`
	// LogPaths replaces the list of members of structured log bodies that are
	// looked up for bodies.
	LogPaths []LogPathConfig `mapstructure:"log_paths"`
	// ExtraLogPaths are tried before LogPaths.
	ExtraLogPaths []LogPathConfig `mapstructure:"extra_log_paths"`
	// MaxBytes of one decoded body are read.
	MaxBytes int `mapstructure:"max_bytes"`
	// Keep says which MCP items keep their bodies.
	Keep Keep `mapstructure:"keep"`
}

// LogPathConfig names the members of a structured log body that hold the two
// sides of an exchange, as dotted paths. One path alone holds messages of
// either side.
type LogPathConfig struct {
	Request  string `mapstructure:"request"`
	Response string `mapstructure:"response"`
	Message  string `mapstructure:"message"`
}

// RetryConfig says what is needed to tell who sent a call again.
type RetryConfig struct {
	Enabled bool `mapstructure:"enabled"`
	// Window is how long after the end of an attempt a repeat may begin.
	Window time.Duration `mapstructure:"window"`
	// MaxTracked is the number of entries that are remembered.
	MaxTracked int `mapstructure:"max_tracked"`
	// Intermediaries are the service.name of gateways.
	Intermediaries []string `mapstructure:"intermediaries"`
	// ReadOnlyTools and WriteTools are globs of tool names.
	ReadOnlyTools []string `mapstructure:"read_only_tools"`
	WriteTools    []string `mapstructure:"write_tools"`
}

// PairingConfig says how log records that hold one side each are joined.
type PairingConfig struct {
	Enabled bool `mapstructure:"enabled"`
	// Window is how long a request waits for its response.
	Window time.Duration `mapstructure:"window"`
	// MaxPending is the number of requests that are remembered.
	MaxPending int `mapstructure:"max_pending"`
}

// ClassificationConfig holds the policies of classification.
type ClassificationConfig struct {
	// HTTPStatus says whether a 400 or 404 that carries the request's own
	// JSON-RPC error is judged by it.
	HTTPStatus HTTPStatusPolicy `mapstructure:"http_status"`
	// NullMembers says whether a member that is null is there.
	NullMembers NullMembersPolicy `mapstructure:"null_members"`
	// InstrumentedSpans judges spans of MCP instrumentations, which have no
	// bodies, by what they say of themselves.
	InstrumentedSpans bool `mapstructure:"instrumented_spans"`
}

// AttributeConfig is the setting of one attribute.
type AttributeConfig struct {
	Enabled bool `mapstructure:"enabled"`
}

// Keep says which MCP items keep their bodies.
type Keep string

// The values of Keep.
const (
	KeepAlways   Keep = "always"
	KeepFailures Keep = "failures"
	KeepNever    Keep = "never"
)

// HTTPStatusPolicy says what a status outside 2xx means.
type HTTPStatusPolicy string

// The values of HTTPStatusPolicy.
const (
	HTTPStatusSpec   HTTPStatusPolicy = "spec"
	HTTPStatusAlways HTTPStatusPolicy = "always"
)

// NullMembersPolicy says what a null member means.
type NullMembersPolicy string

// The values of NullMembersPolicy.
const (
	NullMembersPresent NullMembersPolicy = "present"
	NullMembersAbsent  NullMembersPolicy = "absent"
)

// SpanStatus says when the status of a span is set.
type SpanStatus string

// The values of SpanStatus.
const (
	SpanStatusUnset    SpanStatus = "unset"
	SpanStatusFailures SpanStatus = "failures"
)

// The limits of bodies::max_bytes.
const (
	minMaxBytes = 1 << 10
	maxMaxBytes = 256 << 20
)

func createDefaultConfig() component.Config {
	return &Config{
		Bodies: BodiesConfig{
			RequestAttributes:  slices.Clone(carrier.DefaultRequestAttributes),
			ResponseAttributes: slices.Clone(carrier.DefaultResponseAttributes),
			MessageAttributes:  slices.Clone(carrier.DefaultMessageAttributes),
			LogPaths:           defaultLogPaths(),
			MaxBytes:           4 << 20,
			Keep:               KeepAlways,
		},
		Classification: ClassificationConfig{
			HTTPStatus:  HTTPStatusSpec,
			NullMembers: NullMembersPresent,
		},
		SpanStatus: SpanStatusUnset,
		Retry:      RetryConfig{Enabled: true, Window: 2 * time.Minute, MaxTracked: 100_000},
		Pairing:    PairingConfig{Enabled: true, Window: 30 * time.Second, MaxPending: 10_000},
	}
}

func defaultLogPaths() []LogPathConfig {
	paths := make([]LogPathConfig, 0, len(carrier.DefaultLogPaths))
	for _, p := range carrier.DefaultLogPaths {
		if p.Response == "" {
			paths = append(paths, LogPathConfig{Message: p.Request})
		} else {
			paths = append(paths, LogPathConfig{Request: p.Request, Response: p.Response})
		}
	}
	return paths
}

// Validate returns an error for each value that cannot be meant, with its key
// and what would be right.
func (c *Config) Validate() error {
	return errors.Join(
		c.Match.check(),
		c.Bodies.check(),
		oneOf("classification::http_status", c.Classification.HTTPStatus, HTTPStatusSpec, HTTPStatusAlways),
		oneOf("classification::null_members", c.Classification.NullMembers, NullMembersPresent, NullMembersAbsent),
		c.checkAttributes(),
		oneOf("span_status", c.SpanStatus, SpanStatusUnset, SpanStatusFailures),
		c.Retry.check(),
		c.Pairing.check(),
	)
}

func (m *MatchConfig) check() error {
	var errs []error
	for i, path := range m.URLPaths {
		key := fmt.Sprintf("match::url_paths[%d]", i)
		switch {
		case !strings.HasPrefix(path, "/"):
			errs = append(errs, fmt.Errorf("%s: %q must begin with a slash, such as /mcp or /mcp/*", key, path))
		case strings.Contains(strings.TrimSuffix(path, "*"), "*"):
			errs = append(errs, fmt.Errorf("%s: %q may have a * at its end only, such as /mcp/*", key, path))
		case strings.ContainsAny(path, "?#"):
			errs = append(errs, fmt.Errorf("%s: %q must be a path without query and fragment", key, path))
		}
	}
	return errors.Join(errs...)
}

func (b *BodiesConfig) check() error {
	var errs []error
	sides := map[string]string{}
	for _, list := range []struct {
		key, side string
		names     []string
	}{
		{"bodies::extra_request_attributes", "request", b.ExtraRequestAttributes},
		{"bodies::request_attributes", "request", b.RequestAttributes},
		{"bodies::extra_response_attributes", "response", b.ExtraResponseAttributes},
		{"bodies::response_attributes", "response", b.ResponseAttributes},
		{"bodies::fragment_attributes", "fragment", b.FragmentAttributes},
		{"bodies::extra_message_attributes", "message", b.ExtraMessageAttributes},
		{"bodies::message_attributes", "message", b.MessageAttributes},
	} {
		for i, name := range list.names {
			if strings.TrimSpace(name) == "" {
				errs = append(errs, fmt.Errorf("%s[%d]: %q must be the name of an attribute", list.key, i, name))
				continue
			}
			name = carrier.Fold(name)
			if side, ok := sides[name]; ok && side != list.side {
				errs = append(errs, fmt.Errorf("%s[%d]: %q is a %s attribute already; one attribute holds one thing", list.key, i, name, side))
			}
			sides[name] = list.side
		}
	}
	errs = append(errs, checkLogPaths("bodies::extra_log_paths", b.ExtraLogPaths), checkLogPaths("bodies::log_paths", b.LogPaths))
	if b.MaxBytes < minMaxBytes || b.MaxBytes > maxMaxBytes {
		errs = append(errs, fmt.Errorf("bodies::max_bytes: %d must be between %d and %d", b.MaxBytes, minMaxBytes, maxMaxBytes))
	}
	errs = append(errs, oneOf("bodies::keep", b.Keep, KeepAlways, KeepFailures, KeepNever))
	return errors.Join(errs...)
}

func checkLogPaths(key string, paths []LogPathConfig) error {
	var errs []error
	for i, p := range paths {
		at := fmt.Sprintf("%s[%d]", key, i)
		switch sides := p.Request != "" && p.Response != ""; {
		case p.Message != "" && p.Request == "" && p.Response == "", p.Message == "" && sides:
		case p.Message == "" && p.Request == "" && p.Response == "":
			errs = append(errs, fmt.Errorf("%s: it must have request and response, or message", at))
		default:
			errs = append(errs, fmt.Errorf("%s: request %q, response %q, message %q must be request and response together, or message alone", at, p.Request, p.Response, p.Message))
		}
		for _, path := range []string{p.Request, p.Response, p.Message} {
			if path != "" && slices.Contains(strings.Split(strings.ReplaceAll(path, "[*]", ""), "."), "") {
				errs = append(errs, fmt.Errorf("%s: %q must be a dotted path such as data.request or calls[*].request", at, path))
			}
		}
	}
	return errors.Join(errs...)
}

func (r *RetryConfig) check() error {
	var errs []error
	if r.Window < time.Second {
		errs = append(errs, fmt.Errorf("retry::window: %s must be at least 1s", r.Window))
	}
	if r.MaxTracked < 1 {
		errs = append(errs, fmt.Errorf("retry::max_tracked: %d must be at least 1", r.MaxTracked))
	}
	for _, list := range []struct {
		key   string
		names []string
		want  string
	}{
		{"retry::intermediaries", r.Intermediaries, "the service.name of a gateway"},
		{"retry::read_only_tools", r.ReadOnlyTools, "the name of a tool, or a pattern such as get_*"},
		{"retry::write_tools", r.WriteTools, "the name of a tool, or a pattern such as create_*"},
	} {
		for i, name := range list.names {
			if strings.TrimSpace(name) == "" {
				errs = append(errs, fmt.Errorf("%s[%d]: %q must be %s", list.key, i, name, list.want))
			}
		}
	}
	return errors.Join(errs...)
}

func (p *PairingConfig) check() error {
	var errs []error
	if p.Window < time.Second {
		errs = append(errs, fmt.Errorf("pairing::window: %s must be at least 1s", p.Window))
	}
	if p.MaxPending < 1 {
		errs = append(errs, fmt.Errorf("pairing::max_pending: %d must be at least 1", p.MaxPending))
	}
	return errors.Join(errs...)
}

func (c *Config) checkAttributes() error {
	var errs []error
	for name := range c.Attributes {
		if !isAttribute(name) {
			errs = append(errs, fmt.Errorf("attributes: %q is no attribute of this processor; known are %s", name, strings.Join(attributeNames(), ", ")))
		}
	}
	return errors.Join(errs...)
}

func oneOf[T ~string](key string, value T, allowed ...T) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	names := make([]string, len(allowed))
	for i, a := range allowed {
		names[i] = string(a)
	}
	return fmt.Errorf("%s: %q must be one of %s", key, value, strings.Join(names, ", "))
}
