// An IIdempotencyDataAdapter over PostgreSQL. As in the library's own store, create fails if the resource is there already; the primary
// key of the table sees to it, also between processes. The error carries the status that the library answers in the same situation, when its
// find sees the resource of a request that is still at work.
const FIND = 'SELECT request, response FROM idempotency_resources WHERE idempotency_key = $1'
const CREATE = 'INSERT INTO idempotency_resources (idempotency_key, request) VALUES ($1, $2) ON CONFLICT DO NOTHING'
const UPDATE = 'UPDATE idempotency_resources SET response = $2 WHERE idempotency_key = $1'
const DELETE = 'DELETE FROM idempotency_resources WHERE idempotency_key = $1'

class PostgresAdapter {
  constructor(pool) { this.pool = pool }

  async findByIdempotencyKey(key) {
    const { rows } = await this.pool.query(FIND, [key])
    if (rows.length === 0) return null
    return { idempotencyKey: key, request: rows[0].request, response: rows[0].response || undefined }
  }

  async create({ idempotencyKey, request }) {
    const { body, method, query, url } = request // without the headers, which hold credentials
    const created = await this.pool.query(CREATE, [idempotencyKey, JSON.stringify({ body, headers: {}, method, query, url })])
    if (created.rowCount === 0) throw Object.assign(new Error('a request with this key came first'), { status: 409 })
  }

  async update({ idempotencyKey, response }) {
    await this.pool.query(UPDATE, [idempotencyKey, JSON.stringify(response)])
  }

  async delete(key) { await this.pool.query(DELETE, [key]) }
}

module.exports = { PostgresAdapter }
