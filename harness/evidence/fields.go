package evidence

// The fields of the rows that runs leave by the million, as Save writes them; what is not listed here is left to encoding/json.

func orderFields(f *flat, o *Order) {
	f.each(func(name []byte) {
		switch string(name) {
		case "id":
			o.ID = f.own()
		case "execution":
			o.Execution = f.name()
		case "leg":
			o.Leg = int(f.number())
		case "user":
			o.User = f.number()
		case "endpoint":
			o.Endpoint = f.name()
		case "key":
			o.Key = f.name()
		case "operation":
			o.Operation = f.number()
		case "symbol":
			o.Symbol = f.name()
		case "side":
			o.Side = f.name()
		case "quantity":
			o.Quantity = f.number()
		case "amount_cents":
			o.AmountCents = f.number()
		case "status":
			o.Status = f.name()
		case "at":
			o.At = f.name() // its audit row has it too
		default:
			f.bad = true
		}
	})
}

func auditFields(f *flat, a *Audit) {
	f.each(func(name []byte) {
		switch string(name) {
		case "id":
			a.ID = f.own()
		case "execution":
			a.Execution = f.name()
		case "user":
			a.User = f.number()
		case "endpoint":
			a.Endpoint = f.name()
		case "key":
			a.Key = f.name()
		case "operation":
			a.Operation = f.number()
		case "action":
			a.Action = f.name()
		case "hash":
			a.Hash = f.name()
		case "code":
			a.Code = int(f.number())
		case "at":
			a.At = f.own()
		default:
			f.bad = true
		}
	})
}

func recordFields(f *flat, r *Record) {
	f.each(func(name []byte) {
		switch string(name) {
		case "id":
			r.ID = f.own()
		case "key":
			r.Key = f.name()
		case "user":
			r.User = f.number()
		case "endpoint":
			r.Endpoint = f.name()
		case "hash":
			r.Hash = f.name()
		case "status":
			r.Status = f.name()
		case "code":
			r.Code = int(f.number())
		case "body":
			r.Body = f.text()
		case "created_us":
			r.CreatedUS = f.number()
		case "locked_us":
			r.LockedUS = f.number()
		case "expires_us":
			r.ExpiresUS = f.number()
		default:
			f.bad = true
		}
	})
}
