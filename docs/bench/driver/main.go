// Command driver is what docs/bench/driver.sh measures with: a trivial handler, and the driver in a closed loop against it with the full history
// being written.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/idemstorm/idemstorm/harness/contract"
	"github.com/idemstorm/idemstorm/harness/drive"
	"github.com/idemstorm/idemstorm/harness/history"
	"github.com/idemstorm/idemstorm/harness/latency"
	"github.com/idemstorm/idemstorm/harness/plan"
)

func main() {
	serve := flag.Bool("serve", false, "serve the trivial handler, print its address, and end with standard input")
	target := flag.String("target", "", "base URL to drive")
	clients := flag.Int("clients", 32, "clients of the closed loop")
	keys := flag.Int("keys", 200_000, "operations, each with a key of its own")
	flag.Parse()
	err := error(nil)
	if *serve {
		err = handler()
	} else {
		err = attack(*target, *clients, *keys)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "driver:", err)
		os.Exit(1)
	}
}

// answer is as long as that of a fresh order.
const answer = `{"order_id":12345,"execution_id":"0b9f4a86-2f3e-4a55-9f4e-0a3f2f1f3c11","symbol":"AAPL","side":"buy","quantity":3,"status":"filled"}`

func handler() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", listener.Addr())
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, answer)
	})}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = server.Close()
	}()
	if err := server.Serve(listener); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// attack prints requests a second, from the first sending to the last answer.
func attack(target string, clients, keys int) error {
	dir, err := os.MkdirTemp("", "idemstorm-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c := contract.ADR0138(30*time.Second, 2*time.Second)
	phase := plan.Phase{Name: "bench", Shape: "traffic", Clients: clients, Keys: keys, Bound: plan.Duration(5 * time.Minute)}
	p, err := plan.Build(plan.Input{Spec: plan.Spec{Phases: []plan.Phase{phase}}, Seed: 1, Contract: c, Accounts: []plan.Account{{ID: 1}, {ID: 2}}})
	if err != nil {
		return err
	}
	w, err := history.Create(filepath.Join(dir, "history.jsonl.gz"))
	if err != nil {
		return err
	}
	zero := time.Now()
	result, err := drive.Run(context.Background(), drive.Config{Plan: p, Targets: []string{target}, Writer: w, Zero: zero, Contract: c})
	if err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	took := time.Since(zero)
	s := result.Latency.Summary(latency.Series{Group: "order fresh", Kind: latency.Service})
	if s.Count != int64(keys) {
		return fmt.Errorf("%d of %d operations were answered", s.Count, keys)
	}
	fmt.Printf("%.0f\n", float64(keys)/took.Seconds())
	return nil
}
