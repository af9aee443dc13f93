package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
)

// What every peer sends. The driver's keys are all different, a peer's is always the same: it has less to do.
const (
	path = "/api/trading/orders"
	body = `{"symbol":"AAPL","side":"buy","quantity":3,"type":"market"}`
	key  = "0b9f4a86-2f3e-4a55-9f4e-0a3f2f1f3c11"
)

// peers are the generators in a folder or on PATH, beside the driver; missing are the names of those that are nowhere.
func peers(folder string) (found []generator, missing []string) {
	for _, p := range []struct {
		name string
		of   func(program string) func(context.Context, *stage, load) (figures, error)
	}{{"vegeta", vegeta}, {"k6", k6}, {"wrk", wrk}} {
		program := filepath.Join(folder, p.name)
		if _, err := os.Stat(program); err != nil {
			if program, err = exec.LookPath(p.name); err != nil {
				missing = append(missing, p.name)
				continue
			}
		}
		found = append(found, generator{p.name, p.of(program)})
	}
	return found, missing
}
