package loopback

import "net"

// Is says whether a host is this machine's loopback interface. A name is asked of nobody: localhost is, any other is not.
func Is(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
