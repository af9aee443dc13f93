// Package provider simulates the payment provider behind the billing route: an
// outside effect that can be counted. It keeps a durable ledger of its own and
// has an idempotency of its own, by the key that the server under test forwards,
// so that a charge made twice is seen even when the server's own rows look right.
//
// The protocol is HTTP and JSON:
//
//	POST /v1/charges    {"amount_cents", "plan", "user_id", "operation_id"}, header
//	                    Idempotency-Key optional: 201 and the charge. The same key and
//	                    request: the same answer with Idempotency-Replayed: true; the key
//	                    with another request: 422; while the first is under way: 409.
//	                    Without a key every call is a charge.
//	GET  /v1/charges    the ledger, an array of charges, oldest first
//	PUT  /v1/behaviour  a Behaviour, effective on the next call
//	GET  /healthz       204
//
// Errors are answered as {"error": "..."}.
package provider

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// headerLimit bounds how long a client may take to send its request header.
const headerLimit = 10 * time.Second

// Options says where the provider keeps its ledger and how it behaves at first.
// Only Dir is required.
type Options struct {
	Dir       string    // folder of ledger.jsonl, created if missing; one provider at a time
	Addr      string    // host:port to listen on; empty: a free loopback port
	Behaviour Behaviour // the zero value answers at once and never fails
}

// Provider is a running provider: a Handler behind a listener.
type Provider struct {
	handler *Handler
	addr    string

	mu     sync.Mutex
	server *http.Server // nil while down
	done   chan struct{}
}

// Start opens the ledger, replaying what it holds, and listens. The context bounds
// the start only; Close ends the provider.
func Start(ctx context.Context, options Options) (*Provider, error) {
	handler, err := NewHandler(options.Dir, options.Behaviour)
	if err != nil {
		return nil, err
	}
	addr := options.Addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	p := &Provider{handler: handler, addr: addr}
	if err := p.Up(ctx); err != nil {
		return nil, errors.Join(err, handler.Close())
	}
	return p, nil
}

// URL is the provider's base address, without a slash at the end. It stays the
// same over Down and Up.
func (p *Provider) URL() string { return "http://" + p.addr }

// Ledger returns all charges, oldest first, as they are on disk, also while the
// provider is down and after Close.
func (p *Provider) Ledger() ([]Charge, error) { return p.handler.Ledger() }

// SetBehaviour changes the behaviour from the next call on.
func (p *Provider) SetBehaviour(behaviour Behaviour) error {
	return p.handler.SetBehaviour(behaviour)
}

// Calls is how many charges have been asked for so far, whatever came of them.
func (p *Provider) Calls() int64 { return p.handler.Calls() }

// Up listens again after Down. A provider that is up stays so.
func (p *Provider) Up(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.server != nil {
		return nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", p.addr)
	if err != nil {
		return fmt.Errorf("listen as the payment provider: %w", err)
	}
	p.addr = listener.Addr().String()
	server := &http.Server{Handler: p.handler, ReadHeaderTimeout: headerLimit}
	done := make(chan struct{})
	p.server, p.done = server, done
	go func() {
		defer close(done)
		_ = server.Serve(listener) // ends with ErrServerClosed, by Down
	}()
	return nil
}

// Down closes the listener and every connection: calls are refused until Up. A
// charge that was under way may or may not have been made; the ledger says.
func (p *Provider) Down() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.server == nil {
		return nil
	}
	err := p.server.Close()
	<-p.done
	p.server = nil
	if err != nil {
		return fmt.Errorf("take the payment provider down: %w", err)
	}
	return nil
}

// Close takes the provider down for good, waits for calls under way and closes
// the ledger. It may be called again.
func (p *Provider) Close() error {
	return errors.Join(p.Down(), p.handler.Close())
}
