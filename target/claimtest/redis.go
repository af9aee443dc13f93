// Package claimtest holds what tests of claim strategies share.
package claimtest

import (
	"net"
	"os/exec"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// redisWithin bounds the start of a redis-server.
const redisWithin = 20 * time.Second

// Redis starts a redis-server without persistence that ends with the test, and returns its host:port once it answers.
func Redis(t *testing.T) string {
	t.Helper()
	addr, port := freeAddress(t)
	server := exec.Command("redis-server", "--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no", "--dir", t.TempDir())
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill() // fails only if it has ended by itself
		_ = server.Wait()
	})
	client := redis.NewClient(&redis.Options{Addr: addr})
	defer client.Close()
	for deadline := time.Now().Add(redisWithin); client.Ping(t.Context()).Err() != nil; {
		if time.Now().After(deadline) {
			t.Fatalf("redis-server on %s does not answer", addr)
		}
		time.Sleep(5 * time.Millisecond) // between two looks, not instead of one
	}
	return addr
}

func freeAddress(t *testing.T) (addr, port string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	addr = ln.Addr().String()
	if _, port, err = net.SplitHostPort(addr); err != nil {
		t.Fatal(err)
	}
	return addr, port
}
