// An order service as a team might have written it. CLAIM=check looks for the key and then inserts, which is wrong: two requests may both find
// nothing. CLAIM=insert lets the primary key of the claim decide. CLAIM=ignore knows no keys. KEYS=any takes whatever is sent for a key.
const http = require('node:http')
const { Pool } = require('./pg.js')

const pool = new Pool(process.env.DATABASE_URL, 8)

// charge calls the payment provider, with the key forwarded unless CHARGE=keyless.
async function charge(key) {
  if (!process.env.PAYMENT_URL) return
  const headers = { 'Content-Type': 'application/json' }
  if (process.env.CHARGE !== 'keyless') headers['Idempotency-Key'] = key
  const answer = await fetch(process.env.PAYMENT_URL + '/v1/charges', { method: 'POST', headers, body: JSON.stringify({ user_id: 1, amount_cents: 100 }) })
  if (!answer.ok) throw new Error('the provider answered ' + answer.status)
}

async function placeChecked(key, order) {
  const [known] = await pool.query('SELECT id FROM orders WHERE idem_key = $1', [key])
  if (known) return { id: Number(known[0]), replayed: true }
  const [[id]] = await pool.query('INSERT INTO orders (idem_key, item, quantity) VALUES ($1, $2, $3) RETURNING id', [key, order.item, order.quantity])
  return { id: Number(id) }
}

async function placeClaimed(key, order) {
  return pool.transaction(async (tx) => {
    const wanted = JSON.stringify(order)
    const won = await tx.query('INSERT INTO claims (idem_key, request) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING idem_key', [key, wanted])
    if (won.length === 0) {
      const [[request, id]] = await tx.query('SELECT request, order_id FROM claims WHERE idem_key = $1', [key])
      return request === wanted ? { id: Number(id), replayed: true } : { mismatch: true }
    }
    const [[id]] = await tx.query('INSERT INTO orders (idem_key, item, quantity) VALUES ($1, $2, $3) RETURNING id', [key, order.item, order.quantity])
    if (process.env.CHARGE !== 'always') await charge(key)
    await tx.query('UPDATE claims SET order_id = $2 WHERE idem_key = $1', [key, id])
    return { id: Number(id) }
  })
}

async function placeAlways(key, order) {
  const [[id]] = await pool.query('INSERT INTO orders (idem_key, item, quantity) VALUES ($1, $2, $3) RETURNING id', [key || '', order.item, order.quantity])
  return { id: Number(id) }
}

const place = { check: placeChecked, ignore: placeAlways }[process.env.CLAIM] || placeClaimed

async function handle(request) {
  if (request.method === 'GET') return [200, { up: true }]
  let body = ''
  for await (const part of request) body += part
  const order = JSON.parse(body)
  const key = request.headers['idempotency-key']
  if (request.url !== '/orders') return [404, { error: 'no such endpoint' }]
  if (place !== placeAlways && !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(key || '') && !(process.env.KEYS === 'any' && key)) return [400, { error: 'a key, please' }]
  if (process.env.CHARGE === 'always') await charge(key)
  const placed = await place(key, order)
  if (placed.mismatch) return [422, { error: 'the key belongs to another order' }]
  return [201, { id: placed.id }, placed.replayed]
}

http.createServer(async (request, response) => {
  let answer
  try { answer = await handle(request) } catch (err) {
    console.error(err.message)
    if (process.env.ON_ERROR === 'exit') process.exit(1)
    answer = [503, { error: 'try again' }]
  }
  const [status, body, replayed] = answer
  if (replayed) response.setHeader('Idempotency-Replayed', 'true')
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
}).listen(Number(process.env.PORT), '127.0.0.1')
