// A small order service that guards POST /orders with express-idempotency, over one of two stores: STORE=memory is the library's default,
// STORE=postgres an adapter of our own.
const express = require('express')
const { idempotency, getSharedIdempotencyService } = require('express-idempotency')
const { Pool } = require('pg')
const { PostgresAdapter } = require('./postgresAdapter')

const INSERT_ORDER = 'INSERT INTO orders (idem_key, item, quantity) VALUES ($1, $2, $3) RETURNING id'

const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: 16, connectionTimeoutMillis: 2000 })
pool.on('error', (err) => console.error('idle connection:', err.message)) // the pool opens another one

const stores = { memory: undefined, postgres: new PostgresAdapter(pool) }
if (!(process.env.STORE in stores)) throw new Error(`STORE: ${process.env.STORE} is none of ${Object.keys(stores)}`)

const app = express()
app.get('/healthz', (request, response) => response.sendStatus(200))
app.use(express.json())
app.post('/orders', idempotency({ dataAdapter: stores[process.env.STORE] }), async (request, response) => {
  const service = getSharedIdempotencyService()
  if (service.isHit(request)) return // answered by the middleware
  const { item, quantity } = request.body
  if (item === 'gold') return response.status(422).send({ error: 'out of stock' })
  if (item === 'slow') await new Promise((resolve) => setTimeout(resolve, 500))
  try {
    if (item === 'bomb') throw new Error('the warehouse does not answer')
    const { rows } = await pool.query(INSERT_ORDER, [request.get('Idempotency-Key') || '', item, quantity])
    response.status(201).send({ id: rows[0].id })
  } catch (err) {
    await service.reportError(request) // the documented way to give the key back after a failure
    throw err
  }
})

// The middleware sets 409 or 417 before it passes an error on; anything else is a failure of ours.
app.use((err, request, response, next) => {
  const status = response.statusCode >= 400 ? response.statusCode : err.status || 500
  if (status >= 500) console.error(err.message)
  response.status(status).json({ error: status >= 500 ? 'try again' : err.message })
})

const server = app.listen(Number(process.env.PORT), '127.0.0.1')
process.on('SIGTERM', () => server.close(() => pool.end()))
process.on('unhandledRejection', (err) => { console.error('unhandled:', err.message) })
