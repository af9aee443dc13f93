package loopback_test

import (
	"net"
	"testing"

	"github.com/idemstorm/idemstorm/harness/loopback"
)

// While a server is down its port must not serve as the source of somebody's connection.
func TestAFreePortCanBeBoundAndIsNoneOfTheKernelsOwn(t *testing.T) {
	for range 200 {
		port, err := loopback.FreePort()
		if err != nil {
			t.Fatal(err)
		}
		if port < 1024 || port >= 32768 {
			t.Fatalf("port %d", port)
		}
		listener, err := net.Listen("tcp", loopback.Addr(port))
		if err != nil {
			t.Fatal(err)
		}
		listener.Close()
	}
}
