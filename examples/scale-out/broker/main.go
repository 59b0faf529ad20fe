// Command broker is a Kafka broker on the loopback interface for this example
// and its test: it keeps everything in memory, has no authentication and
// forgets all at its end. It is a fake made for tests, nothing to run a service
// on.
//
// It writes its address, and then which consumer has which partitions, a line
// each time that changes.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
)

// The topics of front.yaml and worker.yaml, and the consumer groups of
// worker.yaml.
var (
	topics = []string{"otlp_spans", "otlp_logs"}
	groups = []string{"mcp-traces", "mcp-logs"}
)

// interval is how often it is looked whether partitions have moved.
const interval = 200 * time.Millisecond

func main() {
	port := flag.Int("port", 19092, "port on 127.0.0.1; 0 takes one that is free")
	partitions := flag.Int("partitions", 6, "partitions of each topic")
	flag.Parse()
	if err := run(os.Stdout, *port, *partitions); err != nil {
		log.Fatal(err)
	}
}

// run is a broker until the process is told to end.
func run(out io.Writer, port, partitions int) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cluster, err := kfake.NewCluster(
		kfake.NumBrokers(1),
		kfake.Ports(port),
		kfake.SeedTopics(int32(partitions), topics...),
	)
	if err != nil {
		return err
	}
	defer cluster.Close()
	fmt.Fprintf(out, "broker %s, %d partitions each: %s\n", cluster.ListenAddrs()[0], partitions, strings.Join(topics, " "))

	told := map[string]string{}
	for {
		for _, group := range groups {
			if owners := assignments(cluster.GroupInfo(group)); owners != told[group] {
				told[group] = owners
				fmt.Fprintf(out, "%s %s\n", group, owners)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(interval):
		}
	}
}

// assignments says which member has which partitions, such as
// "worker-1:[0 1 2] worker-2:[3 4 5]", or the state of a group that has not
// settled that.
func assignments(group *kfake.GroupInfo) string {
	if group == nil {
		return ""
	}
	if group.State != "Stable" {
		return group.State
	}
	var members []string
	for _, m := range group.Members {
		owned := slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Values(m.Assignment))...)))
		members = append(members, fmt.Sprint(m.ClientID, ":", owned))
	}
	slices.Sort(members)
	return strings.Join(members, " ")
}
