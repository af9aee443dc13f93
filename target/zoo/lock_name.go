package zoo

import (
	"fmt"

	"github.com/idemstorm/idemstorm/target/idempotency"
)

// lockName is what variants with a lock of their own lock: key and scope, as the record's unique constraint.
func lockName(req *idempotency.Request) string {
	user := int32(-1)
	if req.Scope.UserID != nil {
		user = *req.Scope.UserID
	}
	return fmt.Sprintf("%s %d %s", req.Key, user, req.Scope.Endpoint)
}
