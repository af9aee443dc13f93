package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/idemstorm/idemstorm/harness/evidence"
)

var moneyConserved = Invariant{
	ID:      "money-conserved",
	Meaning: "what each user owns in the end is what they owned in the beginning and the sum of their orders",
	Unit:    "users",
	Needs:   []Need{NeedAccounts, NeedOrders},
	judge: func(ix *index, s *sheet) {
		moved := map[int64]*evidence.Account{}
		for i := range ix.set.Orders {
			tally(moved, &ix.set.Orders[i])
		}
		closing := map[int64]*evidence.Account{}
		for i := range ix.set.Closing {
			closing[ix.set.Closing[i].User] = &ix.set.Closing[i]
		}
		for i := range ix.set.Opening {
			before := &ix.set.Opening[i]
			after, still := closing[before.User]
			if !still { // erased with their account
				continue
			}
			s.look()
			judgeMoney(before, moved[before.User], after, s)
		}
	},
}

// tally adds an order to what its user's account changed by. An order that is open moved nothing yet, a cancelled one nothing at all.
func tally(moved map[int64]*evidence.Account, o *evidence.Order) {
	a := moved[o.User]
	if a == nil {
		a = &evidence.Account{User: o.User, Positions: map[string]int64{}}
		moved[o.User] = a
	}
	a.CashCents += o.AmountCents
	if o.Status != "" && o.Status != "filled" {
		return
	}
	switch o.Side {
	case "buy":
		a.Positions[o.Symbol] += o.Quantity
	case "sell":
		a.Positions[o.Symbol] -= o.Quantity
	}
}

func judgeMoney(before, moved, after *evidence.Account, s *sheet) {
	if moved == nil {
		moved = &evidence.Account{}
	}
	if want := before.CashCents + moved.CashCents; want != after.CashCents {
		s.violate(violation{
			User: before.User,
			Sentence: fmt.Sprintf("User %d has %s in cash; opening balance and orders make %s.",
				before.User, cents(after.CashCents), cents(want)),
			Expected: fmt.Sprintf("%s + %s = %s", cents(before.CashCents), cents(moved.CashCents), cents(want)),
			Seen:     fmt.Sprintf("%s, %s off", cents(after.CashCents), cents(after.CashCents-want)),
		})
	}
	if before.Positions == nil || after.Positions == nil { // no positions query
		return
	}
	symbols := maps.Clone(before.Positions)
	maps.Copy(symbols, moved.Positions)
	maps.Copy(symbols, after.Positions)
	for _, symbol := range slices.Sorted(maps.Keys(symbols)) {
		want := before.Positions[symbol] + moved.Positions[symbol]
		if seen := after.Positions[symbol]; seen != want {
			s.violate(violation{
				User:     before.User,
				Sentence: fmt.Sprintf("User %d holds %d of %s; opening position and orders make %d.", before.User, seen, symbol, want),
				Expected: fmt.Sprintf("%d %+d = %d", before.Positions[symbol], moved.Positions[symbol], want),
				Seen:     number(seen),
			})
		}
	}
}

func cents(c int64) string {
	sign := ""
	if c < 0 {
		sign, c = "-", -c
	}
	return fmt.Sprintf("%s%d.%02d", sign, c/100, c%100)
}
