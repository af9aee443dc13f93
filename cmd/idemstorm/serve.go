package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idemstorm/idemstorm/target/idempotency"
	"github.com/idemstorm/idemstorm/target/orderserver"
	"github.com/idemstorm/idemstorm/target/zoo"
)

// serveFlags are what serve takes besides the server's own configuration.
type serveFlags struct {
	addr, addrFile, variant, strategy, logLevel string
	ttl                                         map[string]string
}

func newServeCommand() *cobra.Command {
	var (
		f   serveFlags
		cfg orderserver.Config
	)
	cmd := &cobra.Command{
		Use: "serve", Short: "Run one replica of the reference server", Args: cobra.NoArgs,
		Long: `Run one replica of the reference server until SIGTERM.

Environment: DATABASE_URL, IDEMPOTENCY_DATABASE_URL (default: the same), FLAG_IDEMPOTENCY_MIDDLEWARE (default true),
MBT_NEW_ORDERS_DISABLED (default false), ADMIN_TOKEN (opens /admin/flags and /admin/clock), PAYMENT_PROVIDER_URL,
IDEMSTORM_REDIS_ADDR (host:port, where a strategy or a variant needs it).`,
		Example: `  idemstorm serve --dsn postgres://localhost/orders
  idemstorm serve --addr 127.0.0.1:0 --addr-file addr --variant no-fence`,
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(cmd.Context(), f, cfg) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.addr, "addr", "127.0.0.1:8080", "address to listen on; port 0 for any")
	flags.StringVar(&f.addrFile, "addr-file", "", "write the bound address to this file once ready (default: no file)")
	flags.StringVar(&f.variant, "variant", "", "run this broken variant (default: the reference)")
	flags.StringVar(&f.strategy, "strategy", "", "decide by this claim strategy (default the first): "+strategyNames())
	flags.StringVar(&f.logLevel, "log-level", "info", "debug, info, warn or error")
	flags.StringToStringVar(&f.ttl, "ttl", nil, `life of an endpoint's records, e.g. "POST /api/trading/orders=1h" (default: the contract's)`)
	dsnFlag(cmd, &cfg.DatabaseURL)
	flags.DurationVar(&cfg.StaleAfter, "stale-after", 30*time.Second, "age at which a claim counts as abandoned")
	flags.DurationVar(&cfg.RequestDeadline, "request-deadline", 2*time.Second, "longest wait of a request for the database")
	flags.DurationVar(&cfg.HandlerDelay, "handler-delay", 0, "time that a keyed route's handler takes before its transaction (default none)")
	flags.DurationVar(&cfg.ClockOffset, "clock-offset", 0, "make this server's own clock wrong by so much, for tests (default: it is right)")
	flags.DurationVar(&cfg.CleanupEvery, "cleanup-every", 0, "sweep expired records in this interval, besides nightly (default: nightly alone)")
	flags.IntVar(&cfg.PoolSize, "pool-size", 12, "connections of the handlers at most")
	flags.IntVar(&cfg.StorePoolSize, "store-pool-size", 6, "connections of the key store at most")
	flags.StringVar(&cfg.Isolation, "isolation", "", "read committed, repeatable read or serializable (default: the database's)")
	return cmd
}

func serve(ctx context.Context, f serveFlags, cfg orderserver.Config) error {
	cfg, err := f.complete(cfg)
	if err != nil {
		return exitWith(exitUsage, err)
	}
	server, err := orderserver.New(ctx, cfg)
	if err != nil {
		return exitWith(exitUnreachable, err)
	}
	defer server.Close()
	ln, err := net.Listen("tcp", f.addr)
	if err != nil {
		return exitWith(exitUnreachable, fmt.Errorf("listen: %w", err))
	}
	if err := writeAddress(f.addrFile, ln.Addr().String()); err != nil {
		return exitWith(exitUnreachable, err)
	}
	cfg.Log.Info("serving", "addr", ln.Addr().String(), "variant", f.variant)
	return exitWith(exitUnreachable, server.Serve(ctx, ln))
}

// complete adds to the configuration what comes from the environment and from flags that need reading.
func (f serveFlags) complete(cfg orderserver.Config) (orderserver.Config, error) {
	var err error
	if cfg.DatabaseURL, err = databaseURL(cfg.DatabaseURL); err != nil {
		return cfg, err
	}
	cfg.StoreURL = os.Getenv("IDEMPOTENCY_DATABASE_URL")
	cfg.AdminToken = os.Getenv("ADMIN_TOKEN")
	cfg.ProviderURL = os.Getenv("PAYMENT_PROVIDER_URL")
	middleware, err := envBool("FLAG_IDEMPOTENCY_MIDDLEWARE", true)
	if err != nil {
		return cfg, err
	}
	cfg.MiddlewareOff = !middleware
	if cfg.OrdersDisabled, err = envBool("MBT_NEW_ORDERS_DISABLED", false); err != nil {
		return cfg, err
	}
	if cfg.TTL, err = parseTTL(f.ttl); err != nil {
		return cfg, err
	}
	if cfg.Strategy, err = idempotency.FindStrategy(cmp.Or(f.strategy, idempotency.Strategies[0].Name)); err != nil {
		return cfg, err
	}
	if cfg.Strategy.Redis {
		cfg.RedisAddr = os.Getenv(zoo.RedisAddressVariable)
	}
	if f.variant != "" {
		v, err := zoo.Find(f.variant)
		if err != nil {
			return cfg, err
		}
		cfg.Parts, cfg.Prepare = v.Parts, v.Prepare
	}
	cfg.Log, err = newLog(f.logLevel)
	return cfg, err
}

func strategyNames() string {
	var names []string
	for _, s := range idempotency.Strategies {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}

func newLog(name string) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(name)); err != nil {
		return nil, fmt.Errorf("log level %q is none of debug, info, warn, error", name)
	}
	return slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level})), nil
}

// envBool takes what strconv takes, and on and off.
func envBool(name string, otherwise bool) (bool, error) {
	switch value := os.Getenv(name); value {
	case "":
		return otherwise, nil
	case "on":
		return true, nil
	case "off":
		return false, nil
	default:
		b, err := strconv.ParseBool(value)
		if err != nil {
			return false, fmt.Errorf("%s=%q is neither true nor false", name, value)
		}
		return b, nil
	}
}

func parseTTL(flags map[string]string) (map[string]time.Duration, error) {
	ttl := map[string]time.Duration{}
	for endpoint, value := range flags {
		d, err := time.ParseDuration(value)
		if err != nil {
			return nil, fmt.Errorf("--ttl of %q: %w", endpoint, err)
		}
		ttl[endpoint] = d
	}
	return ttl, nil
}

// writeAddress renames into place, so that a reader sees the whole address or no file.
func writeAddress(path, addr string) error {
	if path == "" {
		return nil
	}
	if err := os.WriteFile(path+".new", []byte(addr), 0o644); err != nil {
		return fmt.Errorf("write address: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("write address: %w", err)
	}
	return nil
}
