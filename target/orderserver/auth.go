package orderserver

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// Who may not call is told before any claim, so that no key is used up on it.
var (
	errUnauthorized    = &idempotency.Refusal{Status: http.StatusUnauthorized, Code: "unauthorized"}
	errUserRequired    = &idempotency.Refusal{Status: http.StatusForbidden, Code: "user_required"}
	errServiceRequired = &idempotency.Refusal{Status: http.StatusForbidden, Code: "service_required"}
)

// sessionSQL is one index look-up a request, and the database's clock decides about expiry.
const sessionSQL = `SELECT user_id FROM sessions WHERE token_hash = $1 AND expires_at > NOW()`

// identify looks a bearer token up by its hash; the token itself is nowhere in the database.
func (s *Server) identify(ctx context.Context, r *http.Request) (idempotency.Identity, error) {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || token == "" {
		return idempotency.Identity{}, errUnauthorized
	}
	var id idempotency.Identity
	err := s.business.QueryRow(ctx, sessionSQL, hashToken(token)).Scan(&id.UserID)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return id, errUnauthorized
	case err != nil:
		return id, fmt.Errorf("look up session: %w", err)
	}
	return id, nil
}

// hashToken is a plain hash: tokens are random and long, so that a slow one would protect nothing more.
func hashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}
