package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// measured are the modules whose versions matter for the figures.
var measured = []string{
	"go.opentelemetry.io/collector/pdata",
	"go.opentelemetry.io/collector/processor/processorhelper",
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/transformprocessor",
	"github.com/tidwall/gjson",
}

// describeMachine says what was measured where and when.
func describeMachine(now time.Time) string {
	var sb strings.Builder
	fmt.Fprintf(&sb, "Measured %s on %s, %d cores, load average %s, %s %s/%s, GOMAXPROCS %d.\n",
		now.UTC().Format("2006-01-02 15:04 UTC"), cpuModel(), runtime.NumCPU(), loadAverage(), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0))
	versions := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			versions[m.Path] = m.Version
		}
	}
	var list []string
	for _, path := range measured {
		list = append(list, path[strings.LastIndexByte(path, '/')+1:]+" "+versions[path])
	}
	sb.WriteString("Modules: " + strings.Join(list, ", ") + ".")
	return sb.String()
}

func cpuModel() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "an unknown CPU"
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "an unknown CPU"
}

func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}
