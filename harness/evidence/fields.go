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
	var raw rawAudit
	if rawAuditFields(f, &raw); f.bad {
		return
	}
	k := f.keep
	*a = Audit{
		ID: k.own(raw.id), Execution: k.shared(raw.execution), User: raw.user, Endpoint: k.shared(raw.endpoint), Key: k.shared(raw.key),
		Operation: raw.operation, Action: k.shared(raw.action), Hash: k.shared(raw.hash), Code: raw.code, At: k.own(raw.at),
	}
}

// rawAuditFields leaves the texts where they stand.
func rawAuditFields(f *flat, a *rawAudit) {
	f.each(func(name []byte) {
		switch string(name) {
		case "id":
			a.id = f.raw()
		case "execution":
			a.execution = f.raw()
		case "user":
			a.user = f.number()
		case "endpoint":
			a.endpoint = f.raw()
		case "key":
			a.key = f.raw()
		case "operation":
			a.operation = f.number()
		case "action":
			a.action = f.raw()
		case "hash":
			a.hash = f.raw()
		case "code":
			a.code = int(f.number())
		case "at":
			a.at = f.raw()
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
