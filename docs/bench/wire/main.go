// Command wire starts a throwaway database with two proxies in front of it,
// runs a command that finds all three in its environment, and removes them.
// The scripts in docs/bench compare through it.
//
// Usage: wire COMMAND [ARGUMENT...]
//
// The command gets DIRECT_DSN, PROXIED_DSN (bytes passed unread) and
// FOLLOWED_DSN (protocol followed, every step passed by a controller), and
// PGBIN, the folder of the database's programs.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/signal"

	"github.com/idemstorm/idemstorm/harness/pgcluster"
	"github.com/idemstorm/idemstorm/harness/pgwire"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: wire COMMAND [ARGUMENT...]")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, name string, args []string) (err error) {
	cluster, err := pgcluster.Start(ctx, pgcluster.Options{Fast: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	plain, err := pgwire.Listen(pgwire.Options{Upstream: cluster.Addr()})
	if err != nil {
		return err
	}
	defer plain.Close()
	followed, err := pgwire.Listen(pgwire.Options{Upstream: cluster.Addr(), Controller: passing{}})
	if err != nil {
		return err
	}
	defer followed.Close()

	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	direct := cluster.DSN("postgres")
	cmd.Env = append(os.Environ(), "PGBIN="+cluster.BinDir(), "DIRECT_DSN="+direct,
		"PROXIED_DSN="+at(direct, plain), "FOLLOWED_DSN="+at(direct, followed))
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run %s: %w", name, err)
	}
	fmt.Printf("proxied:  %+v\nfollowed: %+v\n", plain.Stats(), followed.Stats())
	return nil
}

// passing is the controller that changes nothing.
type passing struct{}

func (passing) Decide(context.Context, *pgwire.Step) pgwire.Action { return pgwire.Action{} }
func (passing) Ended(*pgwire.Step, pgwire.Outcome)                 {}

// at is the same DSN by way of a proxy. DSN made it a URL.
func at(dsn string, p *pgwire.Proxy) string {
	u, err := url.Parse(dsn)
	if err != nil {
		panic(err)
	}
	u.Host = p.Addr()
	return u.String()
}
