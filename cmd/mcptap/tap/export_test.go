package tap

import "testing"

func TestTracesEndpoint(t *testing.T) {
	for in, want := range map[string]string{
		"http://127.0.0.1:4318":           "http://127.0.0.1:4318/v1/traces",
		"https://h/":                      "https://h/v1/traces",
		"https://h/otlp/":                 "https://h/otlp/v1/traces",
		"http://h:4318/v1/traces":         "http://h:4318/v1/traces",
		"http://h:4318/custom/v1/traces/": "http://h:4318/custom/v1/traces",
	} {
		if got, err := tracesEndpoint(in); err != nil || got != want {
			t.Errorf("%s: %s, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "127.0.0.1:4318", "localhost:4318", "grpc://h", "http://"} {
		if got, err := tracesEndpoint(in); err == nil {
			t.Errorf("%q became %s", in, got)
		}
	}
}

func TestBodiesAreNotCutByTheSDK(t *testing.T) {
	t.Setenv("OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", "10")
	t.Setenv("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "10")
	t.Setenv("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "3")
	if l := spanLimits(); l.AttributeValueLengthLimit >= 0 || l.AttributeCountLimit >= 0 {
		t.Errorf("%+v", l)
	}
}
