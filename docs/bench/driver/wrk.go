package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

var wrkSays = regexp.MustCompile(`(?m)^\s*(\d+) requests in ([\d.]+)s`)

// wrk keeps nothing but sums either. It has no open loop.
func wrk(program string) func(context.Context, *stage, load) (figures, error) {
	return func(ctx context.Context, s *stage, l load) (f figures, err error) {
		script := filepath.Join(s.dir, "wrk.lua")
		text := fmt.Sprintf("wrk.method = 'POST'\nwrk.body = '%s'\nwrk.headers['Content-Type'] = 'application/json'\nwrk.headers['Idempotency-Key'] = '%s'\n", body, key)
		if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
			return f, err
		}
		seconds := strconv.Itoa(max(1, int(l.length.Seconds())))
		out, cpu, err := command(ctx, program, "-t2", "-c"+strconv.Itoa(l.clients), "-d"+seconds+"s", "-s", script, s.url+path)
		if err != nil {
			return f, err
		}
		said := wrkSays.FindSubmatch(out)
		if said == nil || strings.Contains(string(out), "Non-2xx") {
			return f, fmt.Errorf("wrk: %s", out)
		}
		f.cpu = cpu
		f.requests, _ = strconv.ParseInt(string(said[1]), 10, 64) // digits
		f.seconds, err = strconv.ParseFloat(string(said[2]), 64)
		return f, err
	}
}
