package orderserver

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"strconv"
	"strings"
)

// cents is an amount of money, or a price, in hundredths; negative for what leaves the account.
type cents int64

// String is the decimal form that NUMERIC(18,2) reads and answers show.
func (c cents) String() string {
	sign := ""
	if c < 0 {
		sign, c = "-", -c
	}
	return fmt.Sprintf("%s%d.%02d", sign, int64(c)/100, int64(c)%100)
}

var decimalForm = regexp.MustCompile(`^[0-9]{1,12}(\.[0-9]{1,2})?$`)

// parseCents reads a decimal with at most two places.
func parseCents(s string) (cents, bool) {
	if !decimalForm.MatchString(s) {
		return 0, false
	}
	whole, fraction, _ := strings.Cut(s, ".")
	n, err := strconv.ParseInt(whole+(fraction + "00")[:2], 10, 64)
	return cents(n), err == nil
}

// priceOf is the price at which everything in a symbol is filled: 1.00 to 499.99, the same on every replica for good.
func priceOf(symbol string) cents {
	h := fnv.New32a()
	h.Write([]byte(symbol))
	return cents(100 + h.Sum32()%49900)
}
