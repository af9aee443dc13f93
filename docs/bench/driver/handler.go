package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// answer is as long as that of a fresh order.
const answer = `{"order_id":12345,"execution_id":"0b9f4a86-2f3e-4a55-9f4e-0a3f2f1f3c11","symbol":"AAPL","side":"buy","quantity":3,"status":"filled"}`

// The handler's other paths: its own processor time so far in nanoseconds, and the arming of a stall (query: after, for).
const (
	pathCPU   = "/cpu"
	pathStall = "/stall"
)

// handler answers every order at once, but during a stall, whose end it awaits.
type handler struct{ stall atomic.Pointer[stall] }

// stall holds up whatever arrives in a stretch of time that begins some time after the first order.
type stall struct {
	after, length time.Duration
	first         sync.Once
	from          time.Time
}

func (s *stall) wait() {
	s.first.Do(func() { s.from = time.Now().Add(s.after) })
	if since := time.Since(s.from); since >= 0 && since < s.length {
		time.Sleep(s.length - since)
	}
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case pathCPU:
		_, _ = fmt.Fprint(w, int64(processorTime()))
		return
	case pathStall:
		h.arm(w, r)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body)
	if s := h.stall.Load(); s != nil {
		s.wait()
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, answer)
}

func (h *handler) arm(w http.ResponseWriter, r *http.Request) {
	after, err := time.ParseDuration(r.FormValue("after"))
	length, err2 := time.ParseDuration(r.FormValue("for"))
	if err := errors.Join(err, err2); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	h.stall.Store(&stall{after: after, length: length})
}

// processorTime is what this process has used so far, on all processors.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// serve prints the handler's address, and ends with standard input.
func serve(_ context.Context, args []string) error {
	if err := flag.NewFlagSet("serve", flag.ContinueOnError).Parse(args); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", listener.Addr())
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: &handler{}}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = server.Close()
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
