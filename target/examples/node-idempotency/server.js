// A small order service that guards POST /orders with @node-idempotency/core over its Redis adapter, on Node's own http server: onRequest
// before the work, onResponse after it.
const http = require('node:http')
const { Idempotency, IdempotencyErrorCodes } = require('@node-idempotency/core')
const { RedisStorageAdapter } = require('@node-idempotency/storage-adapter-redis')
const { Pool } = require('pg')

const INSERT_ORDER = 'INSERT INTO orders (idem_key, item, quantity) VALUES ($1, $2, $3) RETURNING id'

const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: 16, connectionTimeoutMillis: 2000 })
pool.on('error', (err) => console.error('idle connection:', err.message)) // the pool opens another one

if (!process.env.DISPOSABLE_REDIS_URL) throw new Error('DISPOSABLE_REDIS_URL: missing; start a redis-server that may be emptied and set it, such as redis://127.0.0.1:6399')
const storage = new RedisStorageAdapter({ url: process.env.DISPOSABLE_REDIS_URL })
const idempotency = new Idempotency(storage)

async function place(key, { item, quantity }) {
  if (item === 'gold') return { body: { error: 'out of stock' }, additional: { status: 422 } }
  if (item === 'bomb') return { body: { error: 'the warehouse does not answer' }, additional: { status: 500 } }
  if (item === 'slow') await new Promise((resolve) => setTimeout(resolve, 500))
  try {
    const { rows } = await pool.query(INSERT_ORDER, [key || '', item, quantity])
    return { body: { id: rows[0].id }, additional: { status: 201 } }
  } catch (err) {
    console.error(err.message)
    return { body: { error: 'try again' }, additional: { status: 503 } }
  }
}

// The codes of the library's errors, as its NestJS wrapper answers them.
const statusOf = {
  [IdempotencyErrorCodes.REQUEST_IN_PROGRESS]: 409,
  [IdempotencyErrorCodes.IDEMPOTENCY_FINGERPRINT_MISSMATCH]: 422,
}

async function answer(request) {
  let text = ''
  for await (const part of request) text += part
  const body = JSON.parse(text)
  const asked = { method: request.method, path: request.url, headers: request.headers, body }
  const known = await idempotency.onRequest(asked)
  if (known) return { ...known, replayed: true }
  const placed = await place(request.headers['idempotency-key'], body)
  await idempotency.onResponse(asked, placed)
  return placed
}

const server = http.createServer(async (request, response) => {
  let answered = { body: { up: true }, additional: { status: 200 } }
  try {
    if (request.url === '/orders') answered = await answer(request)
  } catch (err) {
    answered = { body: { error: err.message }, additional: { status: err.code in statusOf ? statusOf[err.code] : err instanceof SyntaxError || err.code ? 400 : 503 } }
  }
  if (answered.replayed) response.setHeader('Idempotency-Replayed', 'true')
  response.writeHead(answered.additional.status, { 'Content-Type': 'application/json' }).end(JSON.stringify(answered.body))
})

storage.connect().then(() => server.listen(Number(process.env.PORT), '127.0.0.1'))
process.on('SIGTERM', () => server.close(() => Promise.all([storage.disconnect(), pool.end()]).then(() => process.exit(0))))
